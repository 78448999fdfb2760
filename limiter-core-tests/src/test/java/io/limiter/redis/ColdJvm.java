package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Configs;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A JVM that starts a limiter as an application does, and has 64 busy callers at once. Prints the results of their calls. */
final class ColdJvm {
    private static final int THREADS = 64;
    private static final long SECONDS = 2;
    private static final int KEYS = 1_000;

    private ColdJvm() {}

    /** Argument: the address. Its last line: calls, those that Redis decided, those that found it unavailable. */
    public static void main(String[] arguments) throws Exception {
        LimiterConfig config = Configs.of("limiter.redis.address = " + arguments[0] + "\n"
                + "limiter.redis.prefix = cold-jvm\nlimiter.redis.startup-wait = 30s\n"
                + "limiter.policies.vote.limits = 1000/1m\n");
        AtomicLong calls = new AtomicLong();
        AtomicLong byRedis = new AtomicLong();
        try (Limiter limiter = Limiter.start(config)) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            AtOnce.run(THREADS, thread -> {
                while (System.nanoTime() - end < 0) {
                    PartitionKey key = PartitionKey.of("client-" + calls.getAndIncrement() % KEYS);
                    Decision decision = limiter.tryAcquire("vote", key, 1);
                    byRedis.addAndGet(decision.source() == Decision.Source.REDIS ? 1 : 0);
                }
            });
            System.out.println(calls + " " + byRedis + " "
                    + limiter.rateLimiter().monitor().failures(BackendException.Kind.UNAVAILABLE));
        }
    }
}
