package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where SLF4J has no provider, what the filter finds at startup is in the log of the container. */
class WithoutLogProviderTest {
    @TempDir
    Path folder;

    /** A web application with a rule that can match nothing. */
    public static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            String rules = "limiter.rules.r.path = /shop/api\nlimiter.rules.r.limits = 1/1h\n";
            WebServer made = new WebServer(folder, folder.resolve("web"), "/shop")
                    .filter("limiter", WebServer.limiter(new ManualTime(), rules))
                    .servlet("/", Answer.text("ok"));
            // Other tests keep the log of their contexts silent.
            for (String name : Collections.list(LogManager.getLogManager().getLoggerNames())) {
                if (name.startsWith("org.apache.catalina.core")) {
                    Logger.getLogger(name).setLevel(Level.INFO);
                }
            }
            try (WebServer server = made.start()) {
                server.statuses(1, "/shop/");
            }
        }
    }

    @Test
    void findingsAreInTheLogOfTheContainer() throws Exception {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String path = Arrays.stream(all.split(File.pathSeparator, -1))
                .filter(entry -> !new File(entry).getName().startsWith("slf4j-simple"))
                .collect(Collectors.joining(File.pathSeparator));
        Process process = new ProcessBuilder(List.of(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        path,
                        Program.class.getName(),
                        folder.toString()))
                .redirectErrorStream(true)
                .start();
        String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), log);
        List<String> found = log.lines().filter(line -> line.contains("RL-325")).toList();
        assertEquals(1, found.size(), log);
        // Tomcat writes the log of a context with a time and a level; standard error has neither.
        assertFalse(found.get(0).startsWith("WARN "), log);
        assertTrue(log.contains("org.apache.catalina.core.ApplicationContext log"), log);
    }
}
