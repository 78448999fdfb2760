package io.limiter.spring.boot.actuate;

import io.limiter.Limiter;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** {@link RedisHealth} for Spring Boot 4, whose health is a module of its own. The same as {@link HealthOfActuator}. */
final class HealthOfModule implements HealthIndicator {
    private final Limiter limiter;

    HealthOfModule(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public Health health() {
        RedisHealth redis = RedisHealth.of(limiter);
        return (redis.isDown() ? Health.down() : Health.up())
                .withDetails(redis.details())
                .build();
    }
}
