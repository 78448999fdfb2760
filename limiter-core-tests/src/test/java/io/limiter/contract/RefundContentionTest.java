package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.NaiveLimiter;
import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Threads that call and refund at once, while the clock runs: every refund gives back what its call took. */
class RefundContentionTest {
    private static final int THREADS = 4;

    /** How many refunds of each limit a long run makes. */
    private static final int REFUNDS = Integer.getInteger("limiter.refunds", 5_000);

    private static final long LIMIT = 5_000;
    private static final long DAY = 86_400_000_000L;
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final TimeSource SYSTEM = TimeSource.system();

    /** Backends whose clock runs. */
    private enum Running {
        IN_PROCESS,
        REDIS;

        Backend open() {
            return this == REDIS
                    ? Backends.connected(Backends.shared())
                    : InProcessBackend.builder().timeSource(Running::now).build();
        }

        /** A thread may lose its processor just after it has read the time. */
        private static long now() {
            long now = SYSTEM.nowMicros();
            if (ThreadLocalRandom.current().nextInt(8) == 0) {
                Thread.yield();
            }
            return now;
        }
    }

    static Stream<Arguments> algorithmsAndBackends() {
        return AnyAlgorithm.limits().stream()
                .filter(algorithm -> algorithm != Algorithm.TOKEN_BUCKET)
                .flatMap(algorithm -> Stream.of(Running.values()).map(backend -> Arguments.of(algorithm, backend)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("algorithmsAndBackends")
    void nothingIsLost(Algorithm algorithm, Running running) throws Exception {
        Policy policy = policy("p", algorithm);
        try (RateLimiter limiter = RateLimiters.on(running.open())) {
            callAndRefund(limiter, running, () -> List.of(AnyAlgorithm.charge(policy, KEY, 1)));
            assertEquals(LIMIT, Looks.left(limiter, policy, KEY));
        }
    }

    /** Limits that have one lock, and limits that have several. */
    @ParameterizedTest
    @EnumSource(Running.class)
    void nothingIsLostOfSeveralLimits(Running running) throws Exception {
        Policy two = Policy.of(
                        "two",
                        List.of(
                                AnyAlgorithm.limit(Algorithm.SLIDING_LIST, LIMIT, DAY)
                                        .withName("list"),
                                AnyAlgorithm.limit(Algorithm.FIXED_WINDOW, LIMIT, DAY)
                                        .withName("fixed")))
                .withFailureMode(FailureMode.DENY);
        Policy other = policy("other", Algorithm.SLIDING_ZSET);
        try (RateLimiter limiter = RateLimiters.on(running.open())) {
            callAndRefund(
                    limiter,
                    running,
                    () -> ThreadLocalRandom.current().nextBoolean()
                            ? List.of(new Charge(two, KEY, 1))
                            : List.of(new Charge(two, KEY, 1), new Charge(other, KEY, 2)));
            Looks.at(limiter, two, KEY)
                    .outcomes()
                    .forEach(outcome -> assertEquals(LIMIT, outcome.remaining(), outcome.toString()));
            assertEquals(LIMIT, Looks.left(limiter, other, KEY));
        }
    }

    private static void callAndRefund(RateLimiter limiter, Running running, Supplier<List<Charge>> charges)
            throws Exception {
        int each = (running == Running.REDIS ? Repeats.of(600, REFUNDS) : Repeats.of(6_000, REFUNDS)) / THREADS;
        AtOnce.run(THREADS, thread -> {
            for (int i = 0; i < each; i++) {
                limiter.refund(limiter.tryAcquire(PermitRequest.of(charges.get())));
            }
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("algorithmsAndBackends")
    void nothingIsLostOfKeysThatAreNewToTwoThreads(Algorithm algorithm, Running running) throws Exception {
        Policy policy = policy("p", algorithm);
        int keys = running == Running.REDIS ? Repeats.of(100, 2_500) : Repeats.of(1_000, 10_000);
        CyclicBarrier both = new CyclicBarrier(2);
        try (RateLimiter limiter = RateLimiters.on(running.open())) {
            AtOnce.run(2, thread -> {
                for (int i = 0; i < keys; i++) {
                    both.await();
                    limiter.refund(limiter.tryAcquire(
                            PermitRequest.of(List.of(AnyAlgorithm.charge(policy, PartitionKey.of("new " + i), 1)))));
                }
            });
            for (int i = 0; i < keys; i++) {
                assertEquals(LIMIT, Looks.left(limiter, policy, PartitionKey.of("new " + i)), "key " + i);
            }
        }
    }

    /** When an operation on the bucket happened, and the call, or the call that was refunded. */
    private record Event(long micros, boolean isRefund, Decision decision) {}

    /** The time does not change while the threads call, so the model sees what they did, in any order. */
    @ParameterizedTest
    @EnumSource
    void aRefundToABucketGivesWhatTheModelGives(Running running) throws Exception {
        Policy policy = policy("p", Algorithm.TOKEN_BUCKET);
        ManualTime time = new ManualTime();
        int rounds = Repeats.of(20, 100);
        int each = Repeats.of(20, 250);
        List<Event> events = new ArrayList<>();
        List<Decision> kept = new ArrayList<>();
        Backend backend = running == Running.REDIS
                ? Backends.connected(Backends.shared().timeSource(time))
                : InProcessBackend.builder().timeSource(time).build();
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            Decision first = limiter.tryAcquire(policy, KEY, LIMIT / 2);
            events.add(new Event(time.nowMicros(), false, first));
            for (int round = 0; round < rounds; round++) {
                long now = time.nowMicros();
                List<Decision> earlier = List.copyOf(kept);
                kept.clear();
                AtOnce.run(THREADS, thread -> {
                    List<Event> mine = new ArrayList<>();
                    List<Decision> later = new ArrayList<>();
                    for (int i = thread; i < earlier.size(); i += THREADS) {
                        limiter.refund(earlier.get(i));
                        mine.add(new Event(now, true, earlier.get(i)));
                    }
                    for (int i = 0; i < each; i++) {
                        Decision decision = limiter.tryAcquire(policy, KEY, 1 + i % 2);
                        mine.add(new Event(now, false, decision));
                        if (i % 3 == 0) {
                            later.add(decision);
                        } else {
                            limiter.refund(decision);
                            mine.add(new Event(now, true, decision));
                        }
                    }
                    synchronized (events) {
                        events.addAll(mine);
                        kept.addAll(later);
                    }
                });
                time.advanceMicros(ThreadLocalRandom.current().nextLong(20_000_000));
            }
            NaiveLimiter model = new NaiveLimiter();
            events.forEach(event -> replay(model, event));
            Decision last = Looks.at(limiter, policy, KEY);
            assertEquals(
                    model.decide(last.charges(), Mode.LOOK, time.nowMicros()).toString(),
                    last.outcomes().toString());
            time.advanceMicros(DAY);
            assertEquals(LIMIT, Looks.left(limiter, policy, KEY));
        }
    }

    private static void replay(NaiveLimiter model, Event event) {
        if (event.isRefund) {
            model.refund(event.decision.outcomes().get(0), event.micros);
        } else {
            model.decide(event.decision.charges(), Mode.TAKE, event.micros);
        }
    }

    private static Policy policy(String name, Algorithm algorithm) {
        return Policy.of(name, List.of(AnyAlgorithm.limit(algorithm, LIMIT, DAY)))
                .withFailureMode(FailureMode.DENY);
    }
}
