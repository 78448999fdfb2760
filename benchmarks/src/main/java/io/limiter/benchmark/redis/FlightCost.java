package io.limiter.benchmark.redis;

import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import io.limiter.benchmark.Table;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What our limiter asks of Redis for calls in flight, each second: to renew what it holds, and while a full key is flooded. */
final class FlightCost {
    private static final String LIMITS = "20 concurrent, 1000000000/1d fixed";
    private static final int PERMITS = 20;
    private static final int RENEWED = 10_000;
    private static final int CALLERS = 8;
    private static final int WARMUP_SECONDS = 3;
    /** The hold is 30 s, so each permit is renewed twice in this. */
    private static final int SECONDS = 20;

    private FlightCost() {}

    /** Rows with commands, and with the CPU time of redis-server; of the flood also with the decisions in this JVM. */
    static void run(Table table) throws IOException {
        measure(table, "renewals", limiter -> {
            IntStream.range(0, RENEWED).forEach(i -> limiter.enter(PartitionKey.of("held-" + i)));
            return () -> {};
        });
        measure(table, "flood-of-a-full-key", limiter -> {
            PartitionKey key = PartitionKey.of("full");
            IntStream.range(0, PERMITS).forEach(i -> limiter.enter(key));
            return () -> limiter.enterAndEnd(key);
        });
    }

    /** @param begin begins with a limiter, and returns what all callers do again and again */
    private static void measure(Table table, String workload, Function<Ours, Runnable> begin) throws IOException {
        try (Server server = new Server();
                Ours limiter = new Ours(LIMITS, Ours.onRedis(server.address(), "2s"))) {
            Runnable action = begin.apply(limiter);
            LongAdder done = new LongAdder();
            AtomicBoolean ended = new AtomicBoolean();
            List<Thread> callers = Stream.generate(() -> new Thread(() -> {
                        while (!ended.get()) {
                            action.run();
                            done.increment();
                        }
                    }))
                    .limit(workload.equals("renewals") ? 0 : CALLERS)
                    .toList();
            callers.forEach(Thread::start);
            pause(WARMUP_SECONDS);
            Server.Usage before = server.usage();
            long doneBefore = done.sum();
            pause(SECONDS);
            Server.Usage after = server.usage();
            table.row(
                    "in-flight",
                    workload,
                    callers.size() + " callers",
                    (after.calls() - before.calls()) / SECONDS,
                    (after.cpuMicros() - before.cpuMicros()) / SECONDS,
                    (double) (done.sum() - doneBefore) / SECONDS);
            ended.set(true);
        }
    }

    private static void pause(int seconds) {
        LockSupport.parkNanos(seconds * 1_000_000_000L);
    }
}
