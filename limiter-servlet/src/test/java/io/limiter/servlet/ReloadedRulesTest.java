package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import io.limiter.servlet.WebServer.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The configuration file of a filter that serves requests is changed, broken, emptied and removed. */
class ReloadedRulesTest {
    private static final int CHANGES = Repeats.of(22, 100);
    /** The number of refusals, each with an invalid file. */
    private static final int REFUSALS = 20;

    private static final int LOAD_THREADS = 3;
    private static final int LIMIT = 30 * CHANGES;

    private static final String ALL = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = %d/1h fixed\n";

    @TempDir
    Path directory;

    /** Half and whole limits, with a rule that comes and goes before them. */
    private static String rules(int change) {
        String extra = "limiter.rules.extra" + change + ".path = /*\nlimiter.rules.extra" + change
                + ".limits = 1000000/1h fixed\n";
        return (change % 3 == 0 ? extra : "") + "limiter.rules.load.path = /load\nlimiter.rules.load.limits = "
                + (change % 2 == 0 ? LIMIT : LIMIT / 2)
                + "/1h fixed\n";
    }

    @ParameterizedTest
    @EachContainer
    void rulesThatAreSwappedUnderLoadLoseNoStateAndNoRequest(Container.Kind kind) throws Exception {
        Path file = Files.writeString(directory.resolve("limiter.properties"), rules(0));
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger admitted = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(LOAD_THREADS);
        try (LogText log = new LogText();
                Limiter limiter = Limiter.start(LimiterConfig.load(file));
                Container server = kind.make(directory)
                        .filter("limiter", new RateLimitFilter(limiter))
                        .servlet("/", Answer.text("ok"))
                        .start()) {
            List<Future<?>> load = new ArrayList<>();
            for (int i = 0; i < LOAD_THREADS; i++) {
                load.add(threads.submit(() -> {
                    while (!isOver.get()) {
                        int status = server.get("/load").statusCode();
                        assertTrue(status == 200 || status == 429, () -> "status " + status);
                        admitted.addAndGet(status == 200 ? 1 : 0);
                        calls.incrementAndGet();
                    }
                    return null;
                }));
            }
            for (int change = 1; change <= CHANGES; change++) {
                if (change % 2 == 0) {
                    Files.writeString(file, rules(change));
                } else {
                    Path next = Files.writeString(directory.resolve("next"), rules(change));
                    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
                }
                limiter.reload();
                int before = calls.get();
                if (change % (CHANGES / REFUSALS) == 0) {
                    refuse(limiter, file, change / (CHANGES / REFUSALS));
                    Files.writeString(file, rules(change));
                }
                // However slow the machine is, each of these rules has its requests.
                Await.until(
                        Duration.ofSeconds(60),
                        "requests after a change",
                        () -> calls.get() > before || load.stream().allMatch(Future::isDone));
            }
            isOver.set(true);
            for (Future<?> one : load) {
                one.get();
            }
            while (server.get("/load").statusCode() == 200) {
                admitted.incrementAndGet();
            }
            assertEquals(LIMIT, admitted.get(), "of all rules together");
            log.has("RL-159");
            log.has("RL-161 rule 'extra" + (CHANGES - 1) + "' was removed");
        } finally {
            isOver.set(true);
            threads.shutdownNow();
        }
    }

    /** Twenty of them, and the rules stay. */
    private static void refuse(Limiter limiter, Path file, int which) throws IOException {
        LimiterConfig before = limiter.config();
        List<String> bad = List.of(
                "",
                "\n",
                "# " + rules(2),
                rules(2).replace("limits", "limit"),
                rules(2).replace("load.path", "load.paht"),
                rules(2).replace("/1h", "/1x"),
                rules(2).replace("/1h fixed", ""),
                rules(2).substring(0, rules(2).indexOf("limits")),
                rules(2) + "limiter.rules.load.path = /twice\n",
                rules(2) + "limiter.rules.other.path = /other\n",
                rules(2) + "limiter.rules.other.path = /other\nlimiter.rules.other.policy = nobody\n",
                rules(2) + "limiter.backend = redis\n",
                rules(2) + "limiter.instances = 3\n",
                rules(2) + "limiter.enabled = false\n",
                rules(2) + "limiter.http.rejection-handler = com.example.Nobody\n",
                rules(2) + "limiter.rules.load.key = class:com.example.Nobody\n",
                rules(2) + "\\u00zz",
                "limiter.policies.load.limits = 9/1h\n",
                "limiter.http.headers = none\n");
        if (which > bad.size()) {
            Files.delete(file);
        } else {
            Files.writeString(file, bad.get(which - 1));
        }
        assertThrows(IllegalStateException.class, limiter::reload, () -> "which " + which);
        assertSame(before, limiter.config());
    }

    private WebServer start(String config) {
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        definition.setFilterClass(RateLimitFilter.class.getName());
        definition.addInitParameter("config", config);
        definition.addInitParameter("limiter.reload.interval", "1s");
        return new WebServer(directory)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start();
    }

    @Test
    void aMountedFileWhoseLinkIsSwitchedIsSeenWithinItsInterval() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        Path file = mount.resolve("limiter.properties");
        version(mount, 1, 1);
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..1"));
        Files.createSymbolicLink(file, Path.of("..data/limiter.properties"));
        try (LogText log = new LogText();
                WebServer server = start("file:" + file)) {
            assertEquals(List.of(200, 429), server.statuses(2, "/page"));
            assertEquals(1, watching());
            for (int i = 2; i <= Repeats.of(2, 3); i++) {
                version(mount, i, i);
                Files.createSymbolicLink(mount.resolve("..tmp"), Path.of(".." + i));
                Files.move(mount.resolve("..tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
                Await.until(
                        Duration.ofSeconds(60),
                        "new limit",
                        () -> server.get("/page").statusCode() == 200);
                assertEquals(429, server.get("/page").statusCode(), "what was used counts on");
            }
            log.has("RL-162 limiter.rules.all.limits: 1/1h fixed -> 2/1h fixed");
        }
        Await.until(Duration.ofSeconds(60), "no thread stays", () -> watching() == 0);
    }

    private static void version(Path mount, int version, int permits) throws IOException {
        Path folder = Files.createDirectory(mount.resolve(".." + version));
        Files.writeString(folder.resolve("limiter.properties"), ALL.formatted(permits));
    }

    @Test
    void aFileOfTheUnpackedWebApplicationToo() throws Exception {
        Path webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
        Path file = Files.writeString(webInf.resolve("limiter.properties"), ALL.formatted(1));
        try (LogText log = new LogText();
                WebServer server = start("/WEB-INF/limiter.properties")) {
            assertEquals(List.of(200, 429), server.statuses(2, "/page"));
            Files.delete(file);
            Await.until(Duration.ofSeconds(60), "refused", () -> log.toString().contains("RL-160"));
            assertEquals(429, server.get("/page").statusCode());
            Files.writeString(file, ALL.formatted(2));
            Await.until(
                    Duration.ofSeconds(60),
                    "new limit",
                    () -> server.get("/page").statusCode() == 200);
        }
    }

    @Test
    void aFileInAnArchiveCantBeWatched() {
        try (WebServer server =
                new WebServer(directory).servlet("/", Answer.text("ok")).start()) {
            // Of a jar on the class path.
            InitParams params = new InitParams(
                    server.context().getServletContext(),
                    "config",
                    "classpath:META-INF/maven/org.slf4j/slf4j-api/pom.properties",
                    "limiter.reload.interval",
                    "5s");
            String message = String.valueOf(assertThrows(Exception.class, () -> new RateLimitFilter().init(params))
                    .getMessage());
            assertTrue(message.contains("RL-158 limiter.reload.interval = 5s"), message);
        }
    }

    @Test
    void aFilterThatIsNotAskedToWatchHasNoThread() throws Exception {
        Path file = Files.writeString(directory.resolve("limiter.properties"), ALL.formatted(1));
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        definition.setFilterClass(RateLimitFilter.class.getName());
        definition.addInitParameter("config", "file:" + file);
        try (WebServer server = new WebServer(directory)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start()) {
            assertEquals(200, server.get("/page").statusCode());
            assertEquals(0, watching());
        }
    }

    private static long watching() {
        Thread[] all = new Thread[Thread.activeCount() + 100];
        int count = Thread.enumerate(all);
        return Arrays.stream(all, 0, count)
                .filter(thread -> thread.getName().equals("limiter-reload"))
                .count();
    }
}
