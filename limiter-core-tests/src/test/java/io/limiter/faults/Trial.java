package io.limiter.faults;

import io.limiter.FailureMode;
import io.limiter.application.Limiter;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import io.limiter.kit.Await;
import io.limiter.kit.Configs;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** One fault in one failure mode, from the start of the servers to the comparison with what they hold. */
final class Trial {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final long STEP_NANOS = 10_000_000;
    private static final long WINDOW_NANOS = 100_000_000;
    /** What is still on its way when the instances have been closed. */
    private static final long SETTLE_NANOS = 200_000_000;

    /** How long each part takes. */
    record Times(Duration before, Duration fault, Duration after) {}

    private Trial() {}

    /** @param client of Redis that the instances use */
    static <S extends Stage> Row run(Fault<S> fault, FailureMode mode, RedisClientChoice client, Times times)
            throws Exception {
        try (LogLines quiet = new LogLines();
                S stage = fault.stage().get()) {
            String policies = "limiter.backend = redis\n" + Load.policies(mode);
            String own = policies + stage.way() + "limiter.instances = " + Load.INSTANCES + "\nlimiter.redis.client = "
                    + client.name().toLowerCase(Locale.ROOT) + "\n";
            long begin;
            long end;
            List<Call> calls;
            try (Limiter one = start(own);
                    Limiter two = start(own)) {
                Load load = new Load(List.of(one, two));
                pause(times.before());
                begin = System.nanoTime();
                last(fault, stage, times.fault());
                end = System.nanoTime();
                awaitRedis(load);
                pause(times.after());
                calls = load.stop();
            }
            calls.stream()
                    .map(Call::failure)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .ifPresent(Throwable::printStackTrace);
            LockSupport.parkNanos(SETTLE_NANOS);
            Ledger ledger = new Ledger(calls, end);
            try (Limiter auditor = start(policies + stage.auditorsWay() + "limiter.redis.deadline = 5s\n")) {
                Auditor.look(ledger, auditor);
            }
            Row row = Row.of(fault, mode, client, stage.decidesAtOnce(), new Row.Span(begin, end), calls, ledger);
            if (row.byRedisMeanwhile() > fault.mostByRedis()) {
                throw new AssertionError("the fault has hurt nobody: " + row);
            }
            if (row.byRedisMeanwhile() < fault.leastByRedis()) {
                throw new AssertionError("calls were lost: " + row);
            }
            return row;
        }
    }

    static Limiter start(String properties) {
        return Limiter.start(Configs.of(properties));
    }

    static void pause(Duration longest) {
        long end = System.nanoTime() + longest.toNanos();
        Await.until("the time is over", () -> System.nanoTime() >= end);
    }

    static <S extends Stage> void last(Fault<S> fault, S stage, Duration lasts) throws Exception {
        fault.begin().on(stage, lasts);
        // A signal is sent by a process, which takes its time on a busy machine.
        long end = System.nanoTime() + lasts.toNanos();
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(STEP_NANOS);
            fault.again().on(stage, lasts);
        }
        fault.end().on(stage, lasts);
    }

    /** Returns when Redis decides 95 % of the calls of a tenth of a second. That it never does is seen in the row. */
    private static void awaitRedis(Load load) {
        long end = System.nanoTime() + LONGEST.toNanos();
        long share = 0;
        while (share < Row.BACK_PERCENT && System.nanoTime() < end) {
            long answered = load.answered();
            long byRedis = load.byRedis();
            LockSupport.parkNanos(WINDOW_NANOS);
            share = (load.byRedis() - byRedis) * 100 / Math.max(1, load.answered() - answered);
        }
    }
}
