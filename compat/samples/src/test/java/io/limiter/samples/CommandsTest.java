package io.limiter.samples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.Ports;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.net.Socket;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every command of README.md and of the examples' page, on a copy of the sources without anything that was built, and then each way
 * of "Getting started" from an empty folder, with the jars that the command of README.md has installed. {@code mvn verify} is what
 * runs this.
 */
@Tag("long")
class CommandsTest {
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final Pattern MAVEN = Pattern.compile("(?m)^(mvn .+)$|`(mvn [^`]+)`");
    private static final Pattern ADDRESS = Pattern.compile("http://localhost:(\\d+)\\s");
    /** A path that begins a paragraph, and the block below it. */
    private static final Pattern FILE =
            Pattern.compile("(?m)(?<=\n\n)`([\\w./-]+\\.\\w+)`(?:(?!```)[^`]|`[^`\n]+`)*\n```\\w+\n((?s:.*?))^```$");

    private static final Pattern CURL = Pattern.compile("(?m)^(for i in .*curl.*done)$");

    /** Not every mirror of Maven Central has the native files of the version that Boot selects. */
    private static final String NETTY = " -Dnetty.version=4.2.18.Final";

    @TempDir
    static Path copy;

    /** That of this machine by links, but for what is ours. */
    @TempDir
    static Path repository;

    private static void copySources() throws IOException {
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

    @BeforeAll
    static void install() throws Exception {
        copySources();
        Path mine = Path.of(System.getProperty("localRepository"));
        link(mine, repository, "io");
        link(mine.resolve("io"), Files.createDirectory(repository.resolve("io")), "limiter");
        for (String command : commands(Pages.readme())) {
            if (command.startsWith("mvn install ")) {
                try (Run run = new Run(command, copy)) {
                    run.await("BUILD SUCCESS");
                }
            }
        }
    }

    private static void link(Path from, Path to, String except) throws IOException {
        try (Stream<Path> all = Files.list(from)) {
            for (Path each : all.toList()) {
                if (!each.endsWith(except)) {
                    Files.createSymbolicLink(to.resolve(each.getFileName()), each);
                }
            }
        }
    }

    private static List<String> commands(String text) {
        return MAVEN.matcher(text)
                .results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                .filter(command -> !command.equals("mvn verify"))
                .distinct()
                .toList();
    }

    static List<String> starts() {
        return commands(Pages.readme() + Pages.examples()).stream()
                .filter(command -> !command.startsWith("mvn install "))
                .map(command -> command.replaceFirst(" -Dserver.port=\\d+", ""))
                .distinct()
                .toList();
    }

    static List<String> ways() {
        return Pages.of("getting-started").stream()
                .map(page -> page.getFileName().toString())
                .filter(name -> !name.equals("getting-started.md"))
                .toList();
    }

    /** As a reader does who pastes each file and each command. */
    @ParameterizedTest
    @MethodSource("ways")
    void everyWayDeniesWhatItsPageSays(String way, @TempDir Path folder) throws Exception {
        String page = Pages.read(Pages.root().resolve("docs/getting-started").resolve(way));
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Path path = folder.resolve(file.group(1));
            Files.createDirectories(path.getParent());
            if (!Files.exists(path)) {
                Files.writeString(path, whole(file));
            }
        }
        String shown = Pages.blocks(page, "console").get(0);
        String command = commands(page).get(0);
        Matcher curl = CURL.matcher(page);
        if (!curl.find()) {
            try (Run run = new Run(command + " -Dport=" + Ports.next(), folder)) {
                shown.lines().forEach(run::await);
            }
            return;
        }
        int port = Ports.next();
        String elsewhere = command.replace("-cp ", "-Dport=" + port + " -cp ");
        try (Run run = new Run(elsewhere + " -Djetty.http.port=" + port, folder, port)) {
            run.awaitOpen(port);
            assertEquals(shown, answers(curl.group(1), port));
        }
    }

    /** A {@code pom.xml} may be that of another page with other dependencies. */
    private static String whole(MatchResult file) {
        Matcher other = Pattern.compile("]\\(([\\w-]+[.]md)\\)").matcher(file.group());
        if (!file.group(1).equals("pom.xml") || file.group(2).startsWith("<project ") || !other.find()) {
            return file.group(2);
        }
        Path page = Pages.root().resolve("docs/getting-started").resolve(other.group(1));
        String pom = Pages.blocks(Pages.read(page), "xml").get(0);
        int end = pom.indexOf("</dependencies>");
        return pom.substring(0, pom.indexOf("<dependencies>"))
                + file.group(2)
                + pom.substring(end + "</dependencies>".length());
    }

    private static String answers(String shell, int port) throws IOException {
        Process process = new ProcessBuilder("sh", "-c", shell.replace("localhost:8080", "localhost:" + port)).start();
        return new String(process.getInputStream().readAllBytes(), UTF_8);
    }

    @ParameterizedTest
    @MethodSource("starts")
    void everyExampleStarts(String command) throws Exception {
        String onRedis = command.replace("redis://127.0.0.1:6379", RedisServers.single());
        try (Run run = new Run(onRedis + " -Dserver.port=0", copy)) {
            run.awaitAddress();
            int status = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://localhost:" + run.port() + "/"))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
            assertEquals(200, status);
            for (String vote : votes(command)) {
                assertEquals("200\n200\n200\n429\n", answers(vote, run.port()), vote);
            }
        }
    }

    /** What the page of examples sends to the one that a command starts. */
    private static List<String> votes(String command) {
        List<String> all =
                CURL.matcher(Pages.examples()).results().map(MatchResult::group).toList();
        assertEquals(2, all.size());
        all.forEach(vote -> assertTrue(starts().stream().anyMatch(start -> start.contains(profile(vote))), vote));
        // On a busy machine a cold one may count a vote by itself instead of in Redis.
        return all.stream()
                .filter(vote -> command.contains(profile(vote)) && !command.contains("redis"))
                .toList();
    }

    private static String profile(String vote) {
        return vote.contains("application/json") ? "-Psite " : "-Prun ";
    }

    /** A command in a folder, and what it has written. */
    private static final class Run implements AutoCloseable {
        private final Path log;
        private final Process process;

        Run(String command, Path folder) throws IOException {
            this(command, folder, 0);
        }

        /** On that port, if it is a server. */
        Run(String command, Path folder, int port) throws IOException {
            log = Files.createTempFile(copy, "run", ".log");
            ProcessBuilder builder =
                    new ProcessBuilder("sh", "-c", "exec " + command + " -B -Dmaven.repo.local=" + repository + NETTY);
            builder.environment().put("PORT", String.valueOf(port));
            builder.environment().put("SERVER_PORT", String.valueOf(port));
            process = builder.directory(folder.toFile())
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

        void awaitOpen(int port) {
            Await.until(LONGEST, "a server", () -> isOpen(port) || !process.isAlive());
            assertTrue(process.isAlive(), this::written);
        }

        private static boolean isOpen(int port) {
            try (Socket socket = new Socket("localhost", port)) {
                return socket.isConnected();
            } catch (IOException notYet) {
                return false;
            }
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
            // Also the server that Maven has started.
            process.descendants().forEach(ProcessHandle::destroy);
            process.destroy();
            process.waitFor();
        }
    }
}
