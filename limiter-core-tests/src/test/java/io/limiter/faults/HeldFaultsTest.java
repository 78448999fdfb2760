package io.limiter.faults;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Reservations and settlements while something goes wrong with Redis: no exceptions, each is
 * counted once, and a settlement that is lost is reported. {@code -Dlimiter.faults=kill} runs the faults with that word.
 */
@Tag("faults")
class HeldFaultsTest {
    private static final List<String> LIMITS = List.of("365d fixed", "365d token-bucket");
    private static final int CALLERS = 16;
    /** The reservations that each keeps open. */
    private static final int OPEN = 20;

    private static final long ESTIMATE = 3;
    /** Of each key, which is reserved once. */
    private static final long LIMIT = 30;

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final Duration BEFORE = Duration.ofMillis(500);
    private static final Duration LASTS = Duration.ofMillis(1_500);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = 5_000_000;

    /** One reservation of a key of its own, and what became of it. */
    private record Reserved(Hold hold, long cost, @Nullable Settlement settled) {
        Charge charge() {
            return hold.decision().charges().get(0);
        }

        /** The permits that Redis may count now, if no settlement waits any more. */
        Set<Long> right(boolean losesState) {
            if (!hold.allowed() || hold.decision().source() != Decision.Source.REDIS) {
                // An answer that came too late was counted all the same.
                return Set.of(0L, ESTIMATE);
            }
            long counts = settled == null ? ESTIMATE : cost;
            return losesState ? lost(counts) : Set.of(counts);
        }

        private static Set<Long> lost(long counts) {
            return counts == 0 || counts == ESTIMATE ? Set.of(0L, ESTIMATE) : Set.of(0L, ESTIMATE, counts);
        }
    }

    /** Keys that Redis counts with more than it may, and those whose settlement it does not know. */
    private record Found(long twice, long unsettled) {}

    private final Queue<Reserved> all = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicBoolean over = new AtomicBoolean();

    static Stream<Fault<?>> faults() {
        String wanted = System.getProperty("limiter.faults", "");
        return Stream.of(ServerFaults.all(), ClusterFaults.all())
                .<Fault<?>>flatMap(List::stream)
                // It moves the slots of the keys of the other suite.
                .filter(fault -> fault.name().contains(wanted) && !fault.name().contains("slots moved"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    <S extends Stage> void eachIsCountedOnceAndWhatIsLostIsReported(Fault<S> fault) throws Exception {
        try (LogLines quiet = new LogLines();
                S stage = fault.stage().get()) {
            String policies = policies();
            String own = policies + stage.way() + "limiter.instances = 2\n";
            try (Limiter one = Trial.start(own);
                    Limiter two = Trial.start(own);
                    Limiter auditor = Trial.start(policies + stage.auditorsWay() + "limiter.redis.deadline = 5s\n")) {
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < CALLERS; i++) {
                    int caller = i;
                    threads.add(new Thread(() -> run(caller, caller % 2 == 0 ? one : two)));
                }
                threads.forEach(Thread::start);
                Trial.pause(BEFORE);
                Trial.last(fault, stage, LASTS);
                Trial.pause(BEFORE);
                over.set(true);
                for (Thread thread : threads) {
                    thread.join(LONGEST.toMillis());
                    assertTrue(!thread.isAlive(), "a caller hangs");
                }
                judge(fault, auditor, List.of(one, two));
            }
        }
    }

    private static String policies() {
        StringBuilder text = new StringBuilder("limiter.backend = redis\n");
        for (int i = 0; i < LIMITS.size(); i++) {
            String name = "limiter.policies.held-" + i;
            text.append(name + ".limits = " + LIMIT + "/" + LIMITS.get(i) + "\n" + name + ".holds = 10\n");
        }
        return text.toString();
    }

    private void run(int caller, Limiter own) {
        Queue<Runnable> later = new ArrayDeque<>();
        try {
            for (int i = 0; !over.get(); i++) {
                Policy policy = own.policy("held-" + i % LIMITS.size());
                Hold hold = own.rateLimiter().reserve(policy, PartitionKey.of(caller + "-" + i), ESTIMATE, TTL);
                int turn = i / LIMITS.size();
                long cost = i % (3 * ESTIMATE + 1);
                later.add(() -> all.add(new Reserved(hold, cost, turn % 4 == 3 ? null : settle(own, hold, cost))));
                if (later.size() > OPEN) {
                    later.remove().run();
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            later.forEach(Runnable::run);
        } catch (Throwable anyAtAll) {
            failure.compareAndSet(null, anyAtAll);
        }
    }

    private static Settlement settle(Limiter limiter, Hold hold, long cost) {
        return limiter.rateLimiter().settle(hold, cost);
    }

    private void judge(Fault<?> fault, Limiter auditor, List<Limiter> instances) {
        long end = System.nanoTime() + LONGEST.toNanos();
        Found found = find(fault, auditor);
        while (found.unsettled > reported(instances) && System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE_NANOS);
            found = find(fault, auditor);
        }
        long lost = found.unsettled;
        long reported = reported(instances);
        long twice = found.twice;
        long pending =
                all.stream().filter(one -> one.settled == Settlement.PENDING).count();
        long local = all.stream()
                .filter(one -> one.hold.decision().source() != Decision.Source.REDIS)
                .count();
        String row = "| " + fault + " | " + all.size() + " reserved | " + local + " not by Redis | " + pending
                + " settled later | " + twice + " twice | " + lost + " lost | "
                + reported(instances, HoldCount.LOST) + " reported as lost | "
                + reported(instances, HoldCount.UNKNOWN) + " as unknown |";
        System.out.println(row);
        assertAll(
                row,
                () -> assertEquals(null, failure.get(), "exceptions to callers"),
                () -> assertEquals(0, twice, "counted twice"),
                () -> assertTrue(lost <= reported, "settlements lost and not reported"),
                () -> assertTrue(all.size() > 5 * CALLERS, "hardly any traffic"));
    }

    private static long reported(List<Limiter> instances) {
        return reported(instances, HoldCount.LOST) + reported(instances, HoldCount.UNKNOWN);
    }

    private static long reported(List<Limiter> instances, HoldCount what) {
        return instances.stream()
                .mapToLong(limiter -> IntStream.range(0, LIMITS.size())
                        .mapToLong(i -> limiter.rateLimiter().monitor().holds("held-" + i, what))
                        .sum())
                .sum();
    }

    private Found find(Fault<?> fault, Limiter auditor) {
        long twice = 0;
        long unsettled = 0;
        for (Reserved one : all) {
            long used = LIMIT - look(auditor, one.charge()).remaining();
            Set<Long> right = one.right(fault.losesState());
            twice += right.stream().allMatch(most -> used > Math.max(most, ESTIMATE)) ? 1 : 0;
            unsettled += right.contains(used) ? 0 : 1;
        }
        return new Found(twice, unsettled);
    }

    private static Decision look(Limiter auditor, Charge charge) {
        Charge nothing = new Charge(auditor.policy(charge.policy().name()), charge.key(), 0);
        AtomicReference<Decision> state = new AtomicReference<>();
        Await.until("Redis says what it holds", () -> {
            state.set(auditor.rateLimiter()
                    .tryAcquire(PermitRequest.of(List.of(nothing)).withLook()));
            return state.get().source() == Decision.Source.REDIS;
        });
        return state.get();
    }
}
