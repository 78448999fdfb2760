package io.limiter.redis;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold.Settlement;
import io.limiter.LimitOutcome;
import io.limiter.internal.Access;
import java.util.ArrayList;
import java.util.List;

/** Reads the numbers that scripts reply. */
final class Reply {
    private Reply() {}

    /** The outcomes of the parts of a call. */
    static List<LimitOutcome> read(List<Call.Part> parts, List<?> numbers) {
        if (parts.get(0).mode().equals(Call.RESET)) {
            return List.of();
        }
        if (numbers.size() != Call.NUMBERS * parts.size()) {
            throw RedisFailure.misread(
                    "a script replied with " + numbers.size() + " values instead of " + Call.NUMBERS * parts.size());
        }
        List<LimitOutcome> outcomes = new ArrayList<>(parts.size());
        for (Call.Part part : parts) {
            int at = Call.NUMBERS * outcomes.size();
            CallsInFlight.FlightCall flight = part.flight();
            // Of calls in flight more may be held than the limit.
            LimitOutcome outcome = LimitOutcome.of(
                    part.charge(),
                    part.limit(),
                    number(numbers, at) == 1,
                    Math.max(0, number(numbers, at + 1)),
                    number(numbers, at + 2),
                    number(numbers, at + 3),
                    number(numbers, at + 4),
                    number(numbers, at + 5));
            outcomes.add(flight == null ? outcome : outcome.heldBy(Access.LIBRARY, flight));
        }
        return outcomes;
    }

    /** The decision by Redis about charges, from the outcomes of all their limits. */
    static Decision decision(List<Charge> charges, List<LimitOutcome> outcomes) {
        return charges.size() == 1 && outcomes.size() == 1
                ? Decision.of(Decision.Source.REDIS, outcomes.get(0))
                : Decision.of(Decision.Source.REDIS, charges, outcomes);
    }

    /** What became of a settlement, of the last number of its reply: 1 + what was forgotten. */
    static Settled settled(long stamp) {
        return stamp <= 0 ? new Settled(Settlement.ENDED, 0) : new Settled(Settlement.SETTLED, stamp - 1);
    }

    static long number(List<?> numbers, int i) {
        if (numbers.get(i) instanceof Long number) {
            return number;
        }
        throw RedisFailure.misread("a script's reply holds something else than whole numbers");
    }
}
