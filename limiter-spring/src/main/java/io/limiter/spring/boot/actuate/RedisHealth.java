package io.limiter.spring.boot.actuate;

import io.limiter.BackendHealth;
import io.limiter.FailureMode;
import io.limiter.Limiter;
import io.limiter.Policy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What health says of the Redis of a limiter. Down only while it is away and policies deny then, because somebody said so: all
 * others go on without it.
 *
 * @param status {@code DOWN} where calls are refused that would pass if Redis answered, else {@code UP}
 * @param details for who may see them
 */
record RedisHealth(String status, Map<String, Object> details) {
    static RedisHealth of(Limiter limiter) {
        BackendHealth health = limiter.rateLimiter().health();
        List<String> denying = limiter.policies().values().stream()
                .filter(policy -> policy.onFailure() == FailureMode.DENY)
                .map(Policy::name)
                .toList();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("redis", text(health, denying));
        details.put(
                "servers", RateLimitsReport.Backend.of(limiter.rateLimiter()).servers());
        if (!health.findings().isEmpty()) {
            details.put("findings", health.findings());
        }
        return new RedisHealth(health.isDeciding() || denying.isEmpty() ? "UP" : "DOWN", details);
    }

    /** What callers get, by the worst that a server does. */
    private static String text(BackendHealth health, List<String> denying) {
        if (health.isDeciding()) {
            return "answers";
        }
        int away = health.serversThatAre(BackendHealth.State.AWAY).size();
        String what = away == health.servers().size() ? "away" : "partly away";
        if (away == 0) {
            what = health.serversThatAre(BackendHealth.State.REFUSES).isEmpty()
                    ? "does not answer in time"
                    : "answers, and refuses to decide";
        }
        return denying.isEmpty()
                ? what + "; local and allow go on without it"
                : what + "; denied meanwhile: " + String.join(", ", denying);
    }
}
