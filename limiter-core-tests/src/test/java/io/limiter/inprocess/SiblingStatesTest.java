package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The states of one key in one policy are found through each other. Many threads ask for the same keys while the table grows, and while some
 * of these states were dropped and made anew: no permit may be counted in a state that is not in the table any more.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SiblingStatesTest extends BoundedBackend {
    private static final int THREADS = 6;
    private static final int CALLS_OF_A_KEY = 40;

    private final List<Limit> limits = List.of(
            Limit.fixedWindow(50, Duration.ofSeconds(10)),
            Limit.fixedWindow(20, Duration.ofSeconds(20)),
            Limit.fixedWindow(30, Duration.ofSeconds(60)));

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void whatWasTakenStaysTakenWhenSomeOfTheStatesAreMadeAnew(int first) throws Exception {
        Policy policy = Policy.of(
                "three",
                IntStream.range(0, 3).mapToObj(i -> limits.get((i + first) % 3)).toList());
        int keys = Repeats.of(100, 400);
        start(6 * keys, 1_000);
        assertEach(20, ask(limiter, policy, keys, Decision::allowed), "the second limit");
        assertEquals(3 * keys, backend.entries());

        time.advance(Duration.ofSeconds(10));
        dropFullStates(limiter, keys);
        assertTrue(backend.entries() < 5 * keys, "the states of the first limit were dropped");
        assertEach(0, ask(limiter, policy, keys, Decision::allowed), "the second limit, of which nothing is left");

        time.advance(Duration.ofSeconds(10));
        dropFullStates(limiter, keys);
        assertEach(10, ask(limiter, policy, keys, Decision::allowed), "what the third limit has left");

        time.advance(Duration.ofSeconds(20));
        dropFullStates(limiter, keys);
        assertEach(0, ask(limiter, policy, keys, Decision::allowed), "the third limit, of which nothing is left");
    }

    /** Another policy, whose new keys need the memory. */
    private void dropFullStates(RateLimiter limiter, int keys) {
        Policy other = Policy.of("other", Limit.fixedWindow(10, Duration.ofMillis(1)));
        for (int i = 0; i < 2 * keys; i++) {
            limiter.tryAcquire(other, PartitionKey.of("other-" + i), 1);
        }
    }

    @Test
    void aBlockCountsEachDenialOnceHoweverManyThreadsAreDenied() throws Exception {
        Policy policy = Policy.of(
                "blocking",
                Limit.fixedWindow(10, Duration.ofHours(1)),
                Limit.fixedWindow(50, Duration.ofHours(2)),
                Limit.block(20, Duration.ofHours(1), Duration.ofMinutes(15), Duration.ofHours(24)));
        int keys = Repeats.of(100, 300);
        start(4 * keys, 1_000);
        Predicate<Decision> isNotBlocked = decision -> !decision.blocked();
        assertEach(10 + 19, ask(limiter, policy, keys, isNotBlocked), "10 allowed, and the denials before the block");
        assertEach(0, ask(limiter, policy, keys, isNotBlocked), "the block");
        time.advance(Duration.ofMinutes(15));
        assertEach(19, ask(limiter, policy, keys, isNotBlocked), "the denials before the second block");
        time.advance(Duration.ofMinutes(29));
        assertEach(0, ask(limiter, policy, keys, isNotBlocked), "the second block, which is twice as long");
        time.advance(Duration.ofMinutes(17));
        assertEach(10 + 19, ask(limiter, policy, keys, isNotBlocked), "a new window, and the third block");
    }

    private static void assertEach(int expected, AtomicIntegerArray counts, String by) {
        for (int i = 0; i < counts.length(); i++) {
            assertEquals(expected, counts.get(i), by + ", key " + i);
        }
    }

    /** Asks for each key in all threads at once, each in another order; returns how many answers of each key are such. */
    private static AtomicIntegerArray ask(RateLimiter limiter, Policy policy, int keys, Predicate<Decision> which)
            throws Exception {
        AtomicIntegerArray counts = new AtomicIntegerArray(keys);
        AtOnce.run(THREADS, t -> {
            int step = 2 * t + 1;
            for (int i = 0; i < CALLS_OF_A_KEY * keys; i++) {
                int key = (int) ((long) i * step % keys);
                if (which.test(limiter.tryAcquire(policy, PartitionKey.of("key-" + key), 1))) {
                    counts.incrementAndGet(key);
                }
            }
        });
        return counts;
    }
}
