package com.example;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Map;

public class Reports {
    private static final Limit FREE = Limit.fixedWindow(2, Duration.ofDays(1)).withZone(ZoneId.of("Europe/Rome"));
    private static final Limit GOLD = Limit.fixedWindow(20, Duration.ofDays(1)).withZone(ZoneId.of("Europe/Rome"));

    /** After 10 denials within an hour, a customer is blocked for 15 minutes, then for 30, up to a day. */
    private static final Limit BLOCK = Limit.block(10, Duration.ofHours(1), Duration.ofMinutes(15), Duration.ofDays(1));

    private static final Map<String, Policy> PLANS =
            Map.of("free", Policy.of("report.free", FREE, BLOCK), "gold", Policy.of("report.gold", GOLD, BLOCK));

    private final RateLimiter limiter;

    public Reports(RateLimiter limiter) {
        this.limiter = limiter;
        PLANS.values().forEach(limiter::announce);
    }

    public boolean report(String customer, String plan) {
        return limiter.tryAcquire(PLANS.get(plan), PartitionKey.of(customer), 1).allowed();
    }

    public void liftBlock(String customer, String plan) {
        limiter.reset(PLANS.get(plan), PartitionKey.of(customer));
    }
}
