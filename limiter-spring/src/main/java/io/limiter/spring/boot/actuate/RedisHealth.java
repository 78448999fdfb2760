package io.limiter.spring.boot.actuate;

import io.limiter.BackendHealth;
import io.limiter.FailureMode;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * The health of the Redis of a limiter. Down only while it is unreachable and policies are configured to deny then: all
 * others continue without it.
 */
final class RedisHealth {
    private RedisHealth() {}

    /**
     * The current health.
     *
     * @param made makes it of a status, {@code DOWN} if calls are denied that would be allowed if Redis answered, else {@code UP}, and
     *     of details for authorized users
     */
    static <H> H of(Limiter limiter, BiFunction<String, Map<String, Object>, H> made) {
        BackendHealth health = limiter.rateLimiter().monitor().health();
        List<String> denying = limiter.policies().values().stream()
                .filter(policy -> policy.onFailure() == FailureMode.DENY)
                .map(Policy::name)
                .toList();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("redis", text(health, denying));
        details.put("servers", Reports.servers(health));
        if (!health.findings().isEmpty()) {
            details.put("findings", health.findings());
        }
        return made.apply(health.isDeciding() || denying.isEmpty() ? "UP" : "DOWN", details);
    }

    /** The status for callers, by the worst state of a server. */
    private static String text(BackendHealth health, List<String> denying) {
        if (health.isDeciding()) {
            return "answers";
        }
        int away = health.serversThatAre(BackendHealth.State.AWAY).size();
        String what = away == health.servers().size() ? "unreachable" : "partly unreachable";
        if (away == 0) {
            what = health.serversThatAre(BackendHealth.State.REFUSES).isEmpty()
                    ? "does not answer in time"
                    : "answers, but refuses to decide";
        }
        return denying.isEmpty()
                ? what + "; local and allow continue without it"
                : what + "; denied until it recovers: " + String.join(", ", denying);
    }
}
