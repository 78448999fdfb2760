package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the site prints when it is started, in a JVM of its own and on a thread that isn't "main", as Maven starts it. */
class SiteStartTest {
    private static final Pattern READY =
            Pattern.compile("The voting site is on http://localhost:(\\d+) \\(Ctrl-C stops it\\)");

    /** On "main" Spring Boot itself would swallow what the JVM prints of an exception. */
    static final class AsMavenStartsIt {
        private AsMavenStartsIt() {}

        public static void main(String[] args) {
            new Thread(() -> VotingSite.main(args), "VotingSite.main()").start();
        }
    }

    /** Without the jar of the tests' kit, whose settings of the log send every line to a file. */
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("limiter-kit"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static Process start(int port) throws IOException {
        return new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:TieredStopAtLevel=1",
                        // It is killed, and leaves what Tomcat keeps there.
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-Dserver.port=" + port,
                        "-cp",
                        classPath(),
                        AsMavenStartsIt.class.getName())
                .redirectErrorStream(true)
                .start();
    }

    @Test
    void itSaysWhereItIsWhenItListens() throws Exception {
        Process process = start(0);
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            StringBuilder before = new StringBuilder();
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                Matcher ready = READY.matcher(line);
                if (ready.matches()) {
                    int port = Integer.parseInt(ready.group(1));
                    assertEquals(
                            "port " + port,
                            new Browser()
                                    .get(port, "/api/results")
                                    .json()
                                    .at("/countedBy")
                                    .asString());
                    return;
                }
                before.append(line).append('\n');
            }
            throw new AssertionError("it ended without that line: " + before);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aTakenPortIsNamedWithTheWayToAnotherAndNoStackTrace() throws Exception {
        try (ServerSocket other = new ServerSocket(0)) {
            int port = other.getLocalPort();
            Process process = start(port);
            try {
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

                assertTrue(process.waitFor(30, TimeUnit.SECONDS), output);
                assertEquals(1, process.exitValue(), output);
                assertTrue(output.contains("Port " + port + " is taken"), output);
                assertTrue(output.contains("mvn -Psite package -Dserver.port=9000"), output);
                assertFalse(output.contains("\tat "), output);
                assertFalse(READY.matcher(output).find(), output);
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
