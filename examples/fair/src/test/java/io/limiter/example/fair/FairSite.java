package io.limiter.example.fair;

import io.limiter.kit.RedisServers;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The site on a free port and on the tests' redis-server ({@link RedisServers#single}): in this JVM, or as a process to kill. */
public final class FairSite implements AutoCloseable {
    private static final Pattern READY = Pattern.compile(".* is on http://localhost:(\\d+) .*");
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final int port;
    private final @Nullable ConfigurableApplicationContext application;
    private final @Nullable Process process;

    private FairSite(int port, @Nullable ConfigurableApplicationContext application, @Nullable Process process) {
        this.port = port;
        this.application = application;
        this.process = process;
    }

    /** An answer. */
    public record Answer(int status, String body, HttpResponse<String> response) {
        /** The body as JSON. */
        public JsonNode json() {
            return JsonMapper.shared().readTree(body);
        }
    }

    /** Starts it in this JVM, with properties {@code name=value} besides. */
    public static FairSite start(String... properties) {
        ConfigurableApplicationContext application =
                SpringApplication.run(Fair.class, arguments(properties).toArray(String[]::new));
        int port = application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return new FairSite(port, application, null);
    }

    /** Starts it as a process of its own; returns when it listens. */
    public static FairSite process(String... properties) {
        StringBuilder before = new StringBuilder();
        try {
            Process process = launch(properties);
            BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                Matcher ready = READY.matcher(line);
                if (ready.matches()) {
                    drain(output);
                    return new FairSite(Integer.parseInt(ready.group(1)), null, process);
                }
                before.append(line).append('\n');
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new AssertionError("it ended before it listened: " + before);
    }

    /** Without the jar of the tests' kit, whose settings of the log send every line to a file. */
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("limiter-kit"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Begins to start it as a process of its own. */
    static Process launch(String... properties) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                // It is killed, and leaves what Tomcat keeps there.
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "-cp",
                classPath(),
                Fair.class.getName()));
        command.addAll(arguments(properties));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** So that the process is never stopped by a full pipe. */
    private static void drain(BufferedReader output) {
        Thread thread = new Thread(() -> output.lines().forEach(line -> {}), "drain");
        thread.setDaemon(true);
        thread.start();
    }

    private static List<String> arguments(String... properties) {
        List<String> all = new ArrayList<>();
        if (Arrays.stream(properties).noneMatch(one -> one.startsWith("server.port="))) {
            all.add("--server.port=0");
        }
        if (Arrays.stream(properties).noneMatch(one -> one.startsWith("redis="))) {
            all.add("--redis=" + RedisServers.single());
        }
        Arrays.stream(properties).map(one -> "--" + one).forEach(all::add);
        return all;
    }

    /** kill -9; only of a process. */
    public void kill() throws InterruptedException {
        if (process == null) {
            throw new IllegalStateException("it runs in this JVM; start it by process()");
        }
        process.destroyForcibly().waitFor();
    }

    /** The id of its process, for a signal such as STOP ({@link RedisServers#signal}). */
    public long pid() {
        return process == null ? ProcessHandle.current().pid() : process.pid();
    }

    public int port() {
        return port;
    }

    /** A bean of the application in this JVM. */
    public <T> T bean(Class<T> type) {
        if (application == null) {
            throw new IllegalStateException("it is a process of its own");
        }
        return application.getBean(type);
    }

    /** GET of a path such as {@code /api/sale}. */
    public Answer get(String path) {
        return send(request(path).GET());
    }

    /** POST of JSON. */
    public Answer post(String path, String json) {
        return send(request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    /** POST as a form sends it. */
    Answer postForm(String path) {
        return send(request(path)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.noBody()));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }

    private static Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> response =
                    HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            return new Answer(response.statusCode(), response.body(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        if (application != null) {
            application.close();
        }
        if (process != null) {
            process.destroyForcibly();
        }
    }
}
