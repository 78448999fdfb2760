package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A thousand callers that are virtual threads, in a JVM of the JDK at {@code -Dlimiter.jdk}; none may be pinned to its carrier. {@code mvn -pl
 * limiter-core-tests -am test -Dtest.groups=virtual -Dtest.excludedGroups= -Dlimiter.jdk=/usr/lib/jvm/temurin-25-jdk-amd64}
 */
@Tag("virtual")
class VirtualThreadsTest {
    @Test
    void noCallerIsPinnedWhileItWaits() throws Exception {
        String jdk = System.getProperty("limiter.jdk");
        assertNotNull(jdk, "write -Dlimiter.jdk=/path/to/a/jdk of Java 21 or later");
        Process process = new ProcessBuilder(
                        Path.of(jdk, "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        VirtualCallers.class.getName(),
                        RedisServers.single())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        assertEquals(
                "50000 of 50000, 1000 after a wait",
                said.trim(),
                "what follows the first line are threads that were pinned");
    }
}
