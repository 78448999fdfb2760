package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Answers that arrive in another order than their calls were sent: what the cache knows then. */
class DenialOrderTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final long SECOND = 1_000_000;
    private static final Policy LONG =
            Policy.of("p", Limit.fixedWindow(1, Duration.ofSeconds(10)).withName("x"));
    private static final Policy SHORT =
            Policy.of("p", Limit.fixedWindow(1, Duration.ofMillis(300)).withName("x"));

    private final ManualTime time = new ManualTime();
    private final DenialCache cache = new DenialCache(time, Duration.ofSeconds(1));

    private List<Denial.SentCharge> send(Policy policy) {
        return cache.beforeSend(List.of(new Charge(policy, KEY, 1)), Mode.TAKE);
    }

    /** The limit denies for this long. */
    private static Decision denial(Policy policy, long retryAfterMicros) {
        return Decision.of(
                Decision.Source.REDIS,
                LimitOutcome.of(
                        new Charge(policy, KEY, 1),
                        policy.limits().get(0),
                        false,
                        0,
                        retryAfterMicros,
                        retryAfterMicros,
                        retryAfterMicros,
                        0));
    }

    private @Nullable Decision find(Policy policy, PartitionKey key, long permits) {
        return cache.find(List.of(new Charge(policy, key, permits)));
    }

    /** A call under the shorter period may have cut the window, so what was answered before that may no longer be so. */
    @Test
    void aLateDenialOfAnEarlierPolicyIsNotUsed() {
        List<Denial.SentCharge> older = send(LONG);
        time.advance(Duration.ofMillis(1));
        cache.record(send(SHORT), denial(SHORT, 300_000));
        cache.record(older, denial(LONG, 8 * SECOND));
        assertNull(find(LONG, KEY, 1));
        assertNotNull(find(SHORT, KEY, 1));
        cache.record(send(LONG), denial(LONG, 8 * SECOND));
        assertNotNull(find(LONG, KEY, 1), "Redis was asked again");
    }

    @Test
    void underOnePolicyTheOrderDoesNotMatter() {
        List<Denial.SentCharge> older = send(LONG);
        time.advance(Duration.ofMillis(1));
        cache.record(send(LONG), denial(LONG, 300_000));
        cache.record(older, denial(LONG, 301_000));
        assertNotNull(find(LONG, KEY, 1));
        time.advance(Duration.ofMillis(300));
        assertNull(find(LONG, KEY, 1));
    }

    @Test
    void aLaterDenialByAnotherPolicyOfTheNameIsUsed() {
        cache.record(send(SHORT), denial(SHORT, 300_000));
        time.advance(Duration.ofMillis(1));
        cache.record(send(LONG), denial(LONG, 299_000));
        assertNotNull(find(LONG, KEY, 1));
    }
}
