package io.limiter.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.limiter.Backend;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.history.Event.Answer;
import io.limiter.history.Event.Kind;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisClientKind;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances on one Redis, each by another client, with shared commands and denials from memory: what their callers see has an explanation. */
class HistoryTest {
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final long SEED = Long.getLong("limiter.traffic.seed", 20_261_123L);
    private static final Duration MAX_AGE = Duration.ofMillis(300);
    private static final Duration SHORT = Duration.ofMillis(1_500);
    private static final int ENOUGH = 10;
    private static final int MOST_RUNS = 100;

    private String prefix = "history-" + RUNS.incrementAndGet();
    private boolean isCluster;

    private RedisBackend backend(RedisClientKind client) {
        return Backends.connected(
                (isCluster ? client.cluster() : client.single()).prefix(prefix).denialMaxAge(MAX_AGE));
    }

    private static List<Event> run(Backend first, Backend second, Duration lasts, long seed) throws Exception {
        try (RateLimiter one = RateLimiters.on(first);
                RateLimiter two = RateLimiters.on(second)) {
            return Hammer.run(List.of(one, two), lasts, seed);
        }
    }

    private static List<String> judged(List<Event> events) {
        return History.judge(events, MAX_AGE.toNanos());
    }

    /** In as many runs as it takes until everything has happened: how many calls a run has depends on what else the machine does. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatCallersSeeHasAnExplanation(boolean ofCluster) throws Exception {
        isCluster = ofCluster;
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < MOST_RUNS && !isEnough(events); i++) {
            prefix = "history-" + RUNS.incrementAndGet();
            List<Event> ofRun =
                    run(backend(RedisClientKind.REDISSON), backend(RedisClientKind.LETTUCE), SHORT, SEED + i);
            assertEquals(List.of(), judged(ofRun));
            events.addAll(ofRun);
        }
        assertTrue(isEnough(events), events.size() + " calls, too few of some kind");
        assertEquals(
                0, events.stream().filter(one -> one.answer() == Answer.UNKNOWN).count());
    }

    private static boolean isEnough(List<Event> events) {
        return Stream.of(Answer.DONE, Answer.DENIED, Answer.REMEMBERED)
                        .allMatch(answer -> events.stream()
                                        .filter(one -> one.isTake(answer))
                                        .count()
                                > ENOUGH)
                && Stream.of(Kind.REFUND, Kind.RESET)
                        .allMatch(kind -> events.stream()
                                        .filter(one -> one.kind() == kind && one.answer() == Answer.DONE)
                                        .count()
                                > ENOUGH / 2);
    }

    @Tag("soak")
    @RepeatedTest(10)
    void whatManyCallersSeeForLongerHasAnExplanation() throws Exception {
        long seed = SEED + RUNS.get();
        List<Event> events =
                run(backend(RedisClientKind.REDISSON), backend(RedisClientKind.LETTUCE), Duration.ofSeconds(5), seed);
        assertEquals(List.of(), judged(events), "seed " + seed);
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void aFaultOfOneInstanceIsFound(Faulty.Fault fault) throws Exception {
        int calls = 0;
        // How many calls there are in a run, and so whether the fault shows, depends on what else the machine does.
        for (int i = 0; i < MOST_RUNS; i++) {
            prefix = "history-" + RUNS.incrementAndGet();
            List<Event> events = run(
                    new Faulty(backend(RedisClientKind.LETTUCE), backend(RedisClientKind.LETTUCE), fault),
                    backend(RedisClientKind.REDISSON),
                    SHORT.dividedBy(2),
                    SEED + i);
            if (!judged(events).isEmpty()) {
                return;
            }
            calls += events.size();
        }
        fail("nothing found in " + calls + " calls");
    }
}
