package io.limiter.samples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every command of README.md and of the examples' page, on a copy of the sources without anything that was built. {@code mvn verify} is what runs this. */
@Tag("long")
class CommandsTest {
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final Pattern MAVEN = Pattern.compile("(?m)^(mvn .+)$|`(mvn [^`]+)`");
    private static final Pattern ADDRESS = Pattern.compile("http://localhost:(\\d+)\\s");

    @TempDir
    static Path copy;

    @BeforeAll
    static void copySources() throws IOException {
        Path root = Pages.root();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                String name = folder.getFileName().toString();
                if (List.of("target", ".git", "node_modules").contains(name)) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(copy.resolve(root.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, copy.resolve(root.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    static List<String> commands() {
        return MAVEN.matcher(Pages.readme() + Pages.examples())
                .results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                .filter(command -> !command.equals("mvn verify"))
                .distinct()
                .toList();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyMavenCommandDoesWhatItSays(String command) throws Exception {
        if (command.startsWith("mvn install ")) {
            // Into no repository: the one of this machine is its user's.
            try (Run run = new Run(command + " -Dmaven.install.skip=true")) {
                run.await("BUILD SUCCESS");
            }
            return;
        }
        String anyPort = command.replaceFirst(" -Dserver.port=\\d+", "")
                .replace("redis://127.0.0.1:6379", RedisServers.single());
        try (Run run = new Run(anyPort + " -Dserver.port=0")) {
            run.awaitAddress();
            int status = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://localhost:" + run.port() + "/"))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
            // The gateway has no page.
            assertEquals(command.contains("-Pgateway") ? 404 : 200, status);
        }
    }

    @Test
    void itsVotesAreLimited() throws Exception {
        List<String> votes = Pattern.compile("(?m)^ *(for i in .*curl.*done)$")
                .matcher(Pages.examples())
                .results()
                .map(MatchResult::group)
                .toList();
        assertEquals(2, votes.size());
        for (String vote : votes) {
            try (Run run = new Run(
                    vote.contains("application/json") ? "mvn -Psite package -Dserver.port=0" : "mvn -Prun package")) {
                run.awaitAddress();
                Process shell = new ProcessBuilder(
                                "sh", "-c", vote.replace("localhost:8080", "localhost:" + run.port()))
                        .start();
                String statuses = new String(shell.getInputStream().readAllBytes(), UTF_8);
                assertEquals("200\n200\n200\n429\n", statuses, vote);
            }
        }
    }

    /** A command in the copy, and what it has written. */
    private static final class Run implements AutoCloseable {
        private final Path log;
        private final Process process;

        Run(String command) throws IOException {
            log = Files.createTempFile(copy, "run", ".log");
            ProcessBuilder builder = new ProcessBuilder(
                    "sh", "-c", "exec " + command + " -B -Dmaven.repo.local=" + System.getProperty("localRepository"));
            builder.environment().put("PORT", "0");
            process = builder.directory(copy.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        }

        void await(String text) {
            Await.until(LONGEST, text, () -> written().contains(text) || !process.isAlive());
            assertTrue(written().contains(text), this::written);
        }

        void awaitAddress() {
            Await.until(LONGEST, "an address", () -> ADDRESS.matcher(written()).find() || !process.isAlive());
            assertTrue(ADDRESS.matcher(written()).find(), this::written);
        }

        int port() {
            Matcher address = ADDRESS.matcher(written());
            assertTrue(address.find());
            return Integer.parseInt(address.group(1));
        }

        private String written() {
            return Pages.read(log);
        }

        @Override
        public void close() throws InterruptedException {
            process.destroy();
            process.waitFor();
        }
    }
}
