package io.limiter.benchmark.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** Redisson's rate limiter. Its rate is set once for each key, by the first call. */
final class RateLimiterContender implements Contender {
    private final RedissonClient client;
    private final Task task;
    private final Map<Integer, RRateLimiter> limiters = new ConcurrentHashMap<>();

    RateLimiterContender(Task task, boolean tuned) {
        this.task = task;
        this.client = Redisson.create(Redissons.config(task.address(), tuned));
    }

    @Override
    public int ask(int key) {
        RRateLimiter limiter = limiters.get(key);
        if (limiter == null) {
            limiter = limiter(key);
            limiter.trySetRate(RateType.OVERALL, task.permits(), period());
            limiters.put(key, limiter);
        }
        return Contender.byRedis(limiter.tryAcquire());
    }

    @Override
    public CompletionStage<Integer> askAsync(int key) {
        RRateLimiter known = limiters.get(key);
        if (known != null) {
            return known.tryAcquireAsync().thenApply(Contender::byRedis);
        }
        RRateLimiter limiter = limiter(key);
        return limiter.trySetRateAsync(RateType.OVERALL, task.permits(), period())
                .thenCompose(set -> {
                    limiters.put(key, limiter);
                    return limiter.tryAcquireAsync();
                })
                .thenApply(Contender::byRedis);
    }

    private RRateLimiter limiter(int key) {
        return client.getRateLimiter("rrl:client-" + key);
    }

    /** It supports milliseconds. */
    private Duration period() {
        return Duration.ofMillis(Math.max(1, task.periodMicros() / 1_000));
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
