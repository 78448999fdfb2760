package io.limiter.spring.boot.actuate;

import io.limiter.Limiter;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;

/** {@link RedisHealth} for Spring Boot 3, whose health is part of the actuator. The same as {@link HealthOfModule}. */
final class HealthOfActuator implements HealthIndicator {
    private final Limiter limiter;

    HealthOfActuator(Limiter limiter) {
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
