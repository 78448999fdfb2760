package io.limiter.benchmark.redis;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Our limiter as configured by properties, on a client of its own or on one that the application has. */
final class OurContender implements Contender {
    private final Ours limiter;
    private final Runnable afterClose;

    private OurContender(Ours limiter, Runnable afterClose) {
        this.limiter = limiter;
        this.afterClose = afterClose;
    }

    static Contender ofOwnClient(String what, Task task) {
        return new OurContender(new Ours(limits(what, task), Ours.onRedis(task.address(), task.deadline())), () -> {});
    }

    /** The same, and each denial is asked of Redis. */
    static Contender withoutMemory(String what, Task task) {
        String[] redis = Ours.onRedis(task.address(), task.deadline());
        String[] lines = Arrays.copyOf(redis, redis.length + 1);
        lines[redis.length] = "limiter.redis.denial-cache.max-age = 0ms";
        return new OurContender(new Ours(limits(what, task), lines), () -> {});
    }

    static Contender ofClientOfTheApplication(String what, Task task) {
        return ofClient(Redissons.config(task.address(), false), what, task);
    }

    static Contender ofTunedClientOfTheApplication(String what, Task task) {
        return ofClient(Redissons.likeOurs(task.address()), what, task);
    }

    private static Contender ofClient(Config config, String what, Task task) {
        RedissonClient client = Redisson.create(config);
        return new OurContender(new Ours(limits(what, task), client, task.deadline()), client::shutdown);
    }

    private static String limits(String what, Task task) {
        return switch (what) {
            case "fixed" -> limit(task) + "fixed";
            case "bucket" -> limit(task) + "token-bucket";
            case "list", "zset" -> limit(task) + "sliding-" + what;
            case "two" -> limit(task) + "fixed, " + limit(task.second()) + "fixed";
            default -> throw new IllegalArgumentException("no contender is called limiter-" + what);
        };
    }

    private static String limit(Task task) {
        return task.permits() + "/" + task.periodMicros() + "us ";
    }

    @Override
    public int ask(int key) {
        return flags(limiter.decide(PartitionKey.of("client-" + key)));
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        return limiter.decideAsync(PartitionKey.of("client-" + key)).thenApply(OurContender::flags);
    }

    @Override
    public long unavailable() {
        return limiter.unavailable();
    }

    @Override
    public void close() {
        limiter.close();
        afterClose.run();
    }

    private static int flags(Decision decision) {
        return (decision.allowed() ? ALLOWED : 0)
                | (decision.source() == Decision.Source.REDIS ? BY_REDIS : 0)
                | (decision.source().isExact() ? 0 : FAILED);
    }
}
