package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.config.LimiterConfig;
import io.limiter.kit.Facts;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redisson is optional: without it startup with Redis fails, and the message names what to add and the line that needs it. */
class WithoutRedissonTest {
    private static final Pattern SEPARATOR = Pattern.compile(Pattern.quote(File.pathSeparator));

    /** Starts a limiter, on a class path without Redisson; returns the message of the exception. */
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

    @ParameterizedTest
    @CsvSource({
        "limiter.redis.address, redis://127.0.0.1:6379",
        "limiter.redis.config, classpath:logback-test.xml",
    })
    void theLineThatWantsItIsNamed(String key, String value) throws Exception {
        List<URL> path = new ArrayList<>();
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : SEPARATOR.split(all, -1)) {
            if (!new File(entry).getName().startsWith("redisson")) {
                path.add(new File(entry).toURI().toURL());
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            assertThrows(ClassNotFoundException.class, () -> loader.loadClass("org.redisson.Redisson"));
            @SuppressWarnings("unchecked")
            Function<Map<String, String>, String> start =
                    (Function<Map<String, String>, String>) loader.loadClass(Start.class.getName())
                            .getDeclaredConstructor()
                            .newInstance();
            Facts.told(start.apply(Map.of(key, value)), "RL-112", key, "class path", "org.redisson:redisson 4.7.0");
        }
    }
}
