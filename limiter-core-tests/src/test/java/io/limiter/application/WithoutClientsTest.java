package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Facts;
import io.limiter.kit.RedisServers;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each client of Redis is optional: without one that is needed startup with Redis fails; the message names what to add and the line that needs it. */
class WithoutClientsTest {
    private static final Pattern SEPARATOR = Pattern.compile(Pattern.quote(File.pathSeparator));

    /** Starts a limiter, on a class path without a client of Redis; returns the message of the exception. */
    public static final class Start implements Function<Map<String, String>, String> {
        /** Made by its name. */
        public Start() {}

        @Override
        public String apply(Map<String, String> properties) {
            LimiterConfig config = LimiterConfig.builder()
                    .properties("test", properties)
                    .applicationHasClient(false)
                    .build();
            return String.valueOf(assertThrows(IllegalStateException.class, () -> Limiter.start(config))
                    .getMessage());
        }
    }

    /** Starts a limiter, and returns who decides a call. */
    public static final class Decide implements Function<Map<String, String>, String> {
        /** Made by its name. */
        public Decide() {}

        @Override
        public String apply(Map<String, String> properties) {
            LimiterConfig config =
                    LimiterConfig.builder().properties("test", properties).build();
            try (Limiter limiter = Limiter.start(config)) {
                Policy policy = Policy.of("client", Limit.fixedWindow(1, Duration.ofHours(1)));
                return limiter.rateLimiter()
                        .tryAcquire(policy, PartitionKey.of("k"), 0)
                        .source()
                        .name();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redisson", "lettuce-core"})
    void theOtherClientIsEnough(String absent) throws Exception {
        Map<String, String> properties = Map.of(
                "limiter.redis.address", RedisServers.single(),
                "limiter.redis.startup-wait", "60s",
                "limiter.redis.deadline", "30s");
        assertEquals("REDIS", without(absent, Decide.class, properties));
    }

    @ParameterizedTest
    @CsvSource({
        "redisson|lettuce-core, limiter.redis.address, redis://127.0.0.1:6379, redisson:redisson 4.7.0 or newer",
        "redisson|lettuce-core, limiter.redis.address, redis://127.0.0.1:6379, lettuce:lettuce-core 6.6.0 or newer",
        "redisson, limiter.redis.config, classpath:logback-test.xml, org.redisson:redisson 4.7.0 or newer",
    })
    void theLineThatWantsItIsNamed(String absent, String key, String value, String advice) throws Exception {
        Facts.told(without(absent, Start.class, Map.of(key, value)), "RL-112", key, "class path", advice);
    }

    @Test
    void theClientThatIsWantedIsNamed() throws Exception {
        Map<String, String> properties =
                Map.of("limiter.redis.address", "redis://127.0.0.1:6379", "limiter.redis.client", "lettuce");
        Facts.told(
                without("lettuce-core", Start.class, properties),
                "RL-112",
                "limiter.redis.client = lettuce",
                "io.lettuce:lettuce-core 6.6.0 or newer");
    }

    /** What it returns where these libraries are not on the class path. */
    private static String without(
            String absent, Class<? extends Function<Map<String, String>, String>> type, Map<String, String> properties)
            throws Exception {
        List<URL> path = new ArrayList<>();
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : SEPARATOR.split(all, -1)) {
            if (!new File(entry).getName().matches("(" + absent + ")-\\d.*")) {
                path.add(new File(entry).toURI().toURL());
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            boolean isRedisson = absent.startsWith("redisson");
            assertThrows(
                    ClassNotFoundException.class,
                    () -> loader.loadClass(isRedisson ? "org.redisson.Redisson" : "io.lettuce.core.RedisClient"));
            @SuppressWarnings("unchecked")
            Function<Map<String, String>, String> started = (Function<Map<String, String>, String>)
                    loader.loadClass(type.getName()).getDeclaredConstructor().newInstance();
            return started.apply(properties);
        }
    }
}
