package com.example;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import org.redisson.api.RedissonClient;

public class MovedFromRedisson {
    // RRateLimiter limiter = redisson.getRateLimiter("vote:" + user);
    // limiter.trySetRate(RateType.OVERALL, 10, Duration.ofSeconds(1));
    private static final Policy VOTE = Policy.of("vote", Limit.slidingList(10, Duration.ofSeconds(1)));

    private final RateLimiter limiter;

    public MovedFromRedisson(RedissonClient redisson) {
        this.limiter = RateLimiters.on(RedisBackend.builder().client(redisson).build());
    }

    public boolean vote(String user) {
        // return limiter.tryAcquire();
        return limiter.tryAcquire(VOTE, PartitionKey.builder().add("user", user).build(), 1)
                .allowed();
    }
}
