package io.limiter.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SLF4J without a provider drops everything: what the limiter finds reaches standard error all the same. */
class WithoutLogProviderTest {
    @TempDir
    Path folder;

    /** A program without a log: its limits are not shared, though it has several instances. */
    public static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            LimiterConfig config = LimiterConfig.builder()
                    .property("f", 1, "limiter.instances", "4")
                    .build();
            if (arguments.length > 0) {
                DiagnosticLog.to(line -> System.out.println("container: " + line));
            }
            Limiter.start(config).close();
        }
    }

    @Test
    void findingsGoToStandardError() throws Exception {
        String error = run(false, "");
        assertTrue(error.contains("WARN io.limiter.application.BackendStart RL-111"), error);
        assertFalse(error.contains("limiter started"), "what is no finding is not written: " + error);
    }

    @Test
    void findingsGoToTheLogOfAContainerWhereThereIsOne() throws Exception {
        assertFalse(run(false, "container").contains("RL-111"));
        String out = Files.readString(folder.resolve("out"), StandardCharsets.UTF_8);
        assertTrue(out.contains("container: WARN io.limiter.application.BackendStart RL-111"), out);
    }

    @Test
    void withAProviderNothingIsWrittenTwice() throws Exception {
        assertFalse(run(true, "").contains("RL-111"));
        // Where the logback-test.xml of this module says.
        String out = Files.readString(folder.resolve("target/tests.log"), StandardCharsets.UTF_8);
        assertEquals(2, out.split("RL-111", -1).length, out);
    }

    /** What the program writes to standard error; its standard output is in a file. */
    private String run(boolean withProvider, String argument) throws IOException, InterruptedException {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String path = Arrays.stream(all.split(File.pathSeparator, -1))
                .filter(entry -> withProvider || !new File(entry).getName().startsWith("logback"))
                .collect(Collectors.joining(File.pathSeparator));
        Process process = new ProcessBuilder(Stream.of(
                                ProcessHandle.current().info().command().orElse("java"),
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                path,
                                Program.class.getName(),
                                argument)
                        .filter(word -> !word.isEmpty())
                        .toList())
                .directory(folder.toFile())
                .redirectOutput(folder.resolve("out").toFile())
                .start();
        String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), error);
        return error;
    }
}
