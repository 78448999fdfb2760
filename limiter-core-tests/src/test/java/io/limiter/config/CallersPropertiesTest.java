package io.limiter.config;

import static io.limiter.kit.Facts.toldInOneLine;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.internal.config.Settings.BackendKind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the builder offers to who reads properties in some other way. */
class CallersPropertiesTest {
    @Test
    void propertiesAndMistakesWithTheirPlaces() {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .foreignKeys(List.of("limiter.own"))
                .property("a.yml", 7, "limiter.instances", "x")
                .property("a.yml", 9, "limiter.own", "anything")
                .property("a.yml", 8, "limiter.onw", "1")
                .property("switches", 0, "limiter.backend", "disk")
                .mistake("a.yml", 9, "limiter.own", "RL-104 limiter.own = anything: not what it should be");
        ConfigException mistakes = assertThrows(ConfigException.class, builder::build);
        String message = String.valueOf(mistakes.getMessage());
        assertTrue(message.startsWith("the configuration has 4 problems"), message);
        assertEquals(4, mistakes.problems().size());
        toldInOneLine(message, "a.yml line 7", "RL-104", "limiter.instances = x", "1000000");
        toldInOneLine(message, "a.yml line 8", "RL-101", "limiter.onw = 1", "'limiter.own'?");
        toldInOneLine(message, "a.yml line 9", "RL-104", "limiter.own = anything", "not what it should be");
        toldInOneLine(message, "switches", "RL-104", "limiter.backend = disk", "in-process", "redis");
    }

    @Test
    void whatElseIsWrongWithAMistakenPropertyIsNotTold() {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .mistake("f", 3, "limiter.instances", "RL-104 limiter.instances: who knows how many?")
                .property("f", 3, "limiter.instances", "${many}");
        assertEquals(
                "f has 1 problem:\n  line 3: RL-104 limiter.instances: who knows how many?",
                assertThrows(ConfigException.class, builder::build).getMessage());
    }

    @Test
    void theKeysThatThereAre() {
        List<String> keys = LimiterConfig.keys();
        assertTrue(keys.contains("limiter.redis.startup-wait"));
        assertTrue(keys.contains("limiter.policies.<name>.on-failure"));
        assertTrue(keys.contains("limiter.rules.<name>.path"));
        assertEquals(keys.size(), keys.stream().distinct().count());
    }

    @Test
    void theBackendCanBeFound() {
        assertEquals(BackendKind.IN_PROCESS, found("limiter.instances", "1", false));
        assertEquals(BackendKind.REDIS, found("limiter.instances", "1", true));
        assertEquals(BackendKind.REDIS, found("limiter.redis.address", "redis://a:1", false));
        assertEquals(BackendKind.REDIS, found("limiter.redis.config", "classpath:a.yaml", false));
        assertEquals(BackendKind.IN_PROCESS, found("limiter.backend", "in-process", true));
        assertThrows(ConfigException.class, () -> found("limiter.backend", "redis", false));
        assertEquals(BackendKind.REDIS, found("limiter.backend", "redis", true));
        assertEquals(
                BackendKind.REDIS,
                LimiterConfig.builder()
                        .property("f", 0, "limiter.redis.address", "redis://a:1")
                        .build()
                        .settings()
                        .storage()
                        .backend(),
                "an address means Redis everywhere");
    }

    private static BackendKind found(String key, String value, boolean hasClient) {
        return LimiterConfig.builder()
                .property("f", 0, key, value)
                .applicationHasClient(hasClient)
                .build()
                .settings()
                .storage()
                .backend();
    }

    @Test
    void aClientOfTheCallersNeedsNoAddress() {
        LimiterConfig config =
                LimiterConfig.builder().applicationHasClient(true).build();
        assertEquals(List.of(), config.settings().redis().connection().addresses());
        String message = String.valueOf(assertThrows(
                        IllegalStateException.class, () -> Limiter.start(config).close())
                .getMessage());
        assertTrue(message.contains("pass a backend on it to Limiter.start(config, backend)"), message);
    }
}
