package io.limiter.redis;

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
            // Of calls in flight the last numbers are what this instance holds, and what is left may be below 0.
            boolean hasTimes = !part.limit().spec().algorithm().isInFlight();
            FlightEntry flight = part.flight();
            LimitOutcome outcome = LimitOutcome.of(
                    part.charge(),
                    part.limit(),
                    number(numbers, at) == 1,
                    Math.max(0, number(numbers, at + 1)),
                    number(numbers, at + 2),
                    hasTimes ? number(numbers, at + 3) : 0,
                    hasTimes ? number(numbers, at + 4) : 0,
                    hasTimes ? number(numbers, at + 5) : flight == null ? 0 : flight.number);
            outcomes.add(flight == null ? outcome : outcome.heldBy(Access.LIBRARY, flight));
        }
        return outcomes;
    }

    static long number(List<?> numbers, int i) {
        if (numbers.get(i) instanceof Long number) {
            return number;
        }
        throw RedisFailure.misread("a script's reply holds something else than whole numbers");
    }
}
