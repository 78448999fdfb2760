package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.RedisServers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two JVMs on one Redis, on its server's clock, 64 threads each: exactly the limit passes, in all. */
@Tag("long")
class TwoJvmsTest {
    /** Of this run. */
    private static final String PREFIX = "two-jvms-" + System.nanoTime();

    @Test
    void exactlyTheLimitPassesInAll() throws Exception {
        List<Jvm> jvms = List.of(new Jvm("C"), new Jvm("C.UTF-8"));
        try {
            for (Algorithm algorithm : AnyAlgorithm.limits()) {
                contend(algorithm, jvms);
            }
        } finally {
            jvms.forEach(Jvm::end);
        }
    }

    private static void contend(Algorithm algorithm, List<Jvm> jvms) throws IOException {
        for (Jvm jvm : jvms) {
            jvm.say(algorithm.name());
        }
        for (Jvm jvm : jvms) {
            assertEquals("ready", jvm.line());
        }
        for (Jvm jvm : jvms) {
            jvm.say("go");
        }
        long passed = 0;
        List<String> said = new ArrayList<>();
        for (Jvm jvm : jvms) {
            String line = String.valueOf(jvm.line());
            said.add(line);
            assertTrue(line.matches("\\d+ 0"), algorithm + ": passed and decided elsewhere: " + line);
            passed += Long.parseLong(line.split(" ", -1)[0]);
        }
        assertEquals(ContendingJvm.LIMIT, passed, algorithm + ", printed: " + said);
    }

    private static final class Jvm {
        private final Process process;
        private final BufferedReader out;

        Jvm(String locale) throws IOException {
            ProcessBuilder builder = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    ContendingJvm.class.getName(),
                    RedisServers.single(),
                    PREFIX);
            builder.environment().put("LC_ALL", locale);
            builder.redirectError(ProcessBuilder.Redirect.INHERIT);
            process = builder.start();
            out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        /** The next line of the program itself; its log goes the same way. Null when it has ended. */
        @Nullable
        String line() throws IOException {
            String line = out.readLine();
            while (line != null && line.contains(" RL-")) {
                line = out.readLine();
            }
            return line;
        }

        void say(String word) throws IOException {
            process.getOutputStream().write((word + "\n").getBytes(StandardCharsets.US_ASCII));
            process.getOutputStream().flush();
        }

        void end() {
            process.destroy();
        }
    }
}
