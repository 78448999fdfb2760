package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.ConfigException;
import io.limiter.config.LimiterConfig;
import org.junit.jupiter.api.Test;

/** A group without the jar that follows it, which is not on the class path here. */
class ConfigSourceTest {
    private static LimiterConfig.Builder group() {
        return LimiterConfig.builder()
                .property("limiter.redis.address", "redis://127.0.0.1:1")
                .property("limiter.control.group", "shop");
    }

    @Test
    void aGroupNeedsTheJar() {
        LimiterConfig config =
                group().property("limiter.control.secret", "0123456789abcdef").build();
        IllegalStateException missing = assertThrows(IllegalStateException.class, () -> Limiter.start(config));
        assertTrue(missing.getMessage().startsWith("RL-512"), missing.getMessage());
        assertNull(ConfigSource.of(LimiterConfig.builder().build()));
    }

    @Test
    void aGroupNeedsASecret() {
        ConfigException unsigned = assertThrows(ConfigException.class, () -> group().build());
        assertEquals(1, unsigned.problems().size(), unsigned.getMessage());
        assertTrue(unsigned.getMessage().contains("RL-105"), unsigned.getMessage());
    }
}
