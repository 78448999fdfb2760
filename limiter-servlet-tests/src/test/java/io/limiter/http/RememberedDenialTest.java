package io.limiter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A cached denial knows only some limits: the response does not contain the others. */
class RememberedDenialTest {
    private static final Policy TWO = Policy.of(
            "two", Limit.slidingList(3, Duration.ofSeconds(10)), Limit.slidingList(9, Duration.ofSeconds(60)));
    private static final Policy ONE = Policy.of("one", Limit.slidingList(5, Duration.ofSeconds(10)));

    private static Charge charge(Policy policy, String client) {
        return new Charge(policy, PartitionKey.of(client), 1);
    }

    private static LimitOutcome denied(Charge charge, int limit, long remaining, long seconds) {
        long micros = seconds * 1_000_000;
        return LimitOutcome.of(
                charge, charge.policy().limits().get(limit), false, remaining, micros, micros, micros, 0);
    }

    private static DenialAnswer answer(List<Charge> charges, LimitOutcome... outcomes) {
        Decision denial = Decision.of(Decision.Source.CACHED_DENIAL, charges, List.of(outcomes));
        return DenialAnswer.of(LimiterConfig.builder().build(), denial);
    }

    @Test
    void limitsThatAreNotKnownAreLeftOut() {
        List<Charge> charges = List.of(charge(ONE, "a"), charge(TWO, "a"));
        DenialAnswer answer = answer(charges, denied(charges.get(1), 1, 0, 7));
        assertEquals("\"two-1m\";r=0;t=7", answer.fields().get("RateLimit"));
        assertEquals("\"two-1m\";q=9;w=60", answer.fields().get("RateLimit-Policy"));
        assertEquals("7", answer.fields().get("Retry-After"));
    }

    @Test
    void oneLimitThatIsKnownOfTwoKeysIsOneElement() {
        List<Charge> charges = List.of(charge(TWO, "a"), charge(TWO, "b"));
        DenialAnswer answer = answer(charges, denied(charges.get(0), 0, 1, 4), denied(charges.get(1), 0, 0, 7));
        assertEquals("\"two-10s\";r=0;t=7", answer.fields().get("RateLimit"));
        assertEquals("7", answer.fields().get("Retry-After"));
    }
}
