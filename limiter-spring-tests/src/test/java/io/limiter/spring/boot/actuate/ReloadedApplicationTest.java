package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.spring.App;
import io.limiter.spring.boot.BootSite;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;

/** An application whose files outside of the jar change: by a watch, on request, and by a refresh. */
class ReloadedApplicationTest {
    private static final String YAML = """
            limiter:
              reload.interval: %s
              policies:
                vote.limits: %d/1h
              rules:
                pages: {path: /pages/*, limits: 9/1h}
            management.endpoints.web.exposure.include: ratelimits
            management.endpoint.ratelimits.access: unrestricted
            """;

    @TempDir
    Path folder;

    private BootSite start(String yaml, String... arguments) {
        return BootSite.start(folder, yaml, ManagedSite.Site.class, arguments);
    }

    private void write(String yaml) throws IOException {
        Files.writeString(folder.resolve("application.yml"), yaml);
    }

    private static long permits(BootSite site) {
        return site.bean(Limiter.class).policy("vote").limits().get(0).permits();
    }

    private static long watching() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("limiter-reload"))
                .count();
    }

    @Test
    void aChangedFileIsInForceAndABadOneIsNot() throws IOException {
        // Spring Boot begins its log anew, so that is listened to later.
        try (BootSite site = start(YAML.formatted("1s", 1));
                LogLines log = new LogLines()) {
            assertEquals(1, watching());
            assertEquals(List.of(200, 429), site.statuses(2, "POST", "/votes"));
            write(YAML.formatted("1s", 2));
            Await.until("the new limit", () -> permits(site) == 2);
            assertEquals(List.of(200, 429), site.statuses(2, "POST", "/votes"), "what was used counts on");
            write("limiter: [");
            Await.until("refused", () -> log.toString().contains("RL-159"));
            Files.delete(folder.resolve("application.yml"));
            Await.until("refused", () -> log.toString().contains("RL-160"));
            assertEquals(2, permits(site));
            write(YAML.formatted("1s", 5));
            Await.until("the new limit", () -> permits(site) == 5);
        }
        Await.until("no thread stays", () -> watching() == 0);
    }

    @Test
    void theEndpointReadsAgainAndReturnsWhatDiffersOrAllMistakes() throws Exception {
        try (BootSite site = start(YAML.formatted("1h", 1))) {
            HttpResponse<String> nothing = site.call("POST", "/actuator/ratelimits");
            assertEquals(200, nothing.statusCode(), nothing::body);
            assertEquals(List.of(), read(nothing, "$.changes"));
            write(YAML.formatted("1h", 3));
            String change = read(site.call("POST", "/actuator/ratelimits"), "$.changes[0]");
            assertEquals("RL-162 limiter.policies.vote.limits: 1/1h -> 3/1h", change);
            write(YAML.formatted("1h", 3) + "---\nlimiter.policies.more.limits: 1/1h\n");
            String added = read(site.call("POST", "/actuator/ratelimits"), "$.changes[0]");
            assertEquals("RL-162 limiter.policies.more.limits: (not set) -> 1/1h", added, "a document that is new");
            LimiterConfig before = site.bean(Limiter.class).config();
            for (String bad : List.of(
                    "",
                    "server.port: 0\n",
                    "limiter:\n  policies:\n    vote.limits: many\n  rule:\n    x.path: /x\n",
                    YAML.formatted("1h", 3) + "limiter.filter.order: 7\n",
                    YAML.formatted("1h", 3).replace("vote.limits", "other.limits"))) {
                write(bad);
                HttpResponse<String> refused = site.call("POST", "/actuator/ratelimits");
                assertEquals(409, refused.statusCode(), () -> bad + refused.body());
                String error = read(refused, "$.error");
                assertTrue(error.startsWith("RL-159 "), error);
                assertSame(before, site.bean(Limiter.class).config(), bad);
            }
            write("limiter:\n  policies:\n    vote.limits: many\n  rule:\n    x.path: /x\n");
            String error = read(site.call("POST", "/actuator/ratelimits"), "$.error");
            assertTrue(error.contains("2 problems") && error.contains("many") && error.contains("limiter.rule"), error);
        }
    }

    @Test
    void otherSourcesAreReadAgainToo() throws IOException {
        try (BootSite site = start(YAML.formatted("1h", 1), "--spring.profiles.active=big")) {
            write(YAML.formatted("1h", 4));
            MutablePropertySources sources = site.context().getEnvironment().getPropertySources();
            sources.addFirst(new MapPropertySource(
                    "refreshed", Map.of("limiter.rules.pages.limits", "1/1h", "limiter.rules.pages.key", "ip")));
            sources.addLast(new MapPropertySource("behind", Map.of("limiter.policies.vote.limits", "9/1h")));
            site.bean(Limiter.class).reload();
            assertEquals(4, permits(site), "a source behind the files stays there");
            assertEquals(List.of(200, 429), site.statuses(2, "GET", "/pages/one"));
            assertEquals("1/1h", site.context().getEnvironment().getProperty("limiter.rules.pages.limits"));
        }
    }

    /** As Kubernetes mounts a ConfigMap. */
    @Test
    void additionalLocationsAndProfileDocumentsAreReloaded() throws IOException {
        Path mount = Files.createDirectory(folder.resolve("mount"));
        version(mount, 1);
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..1"));
        Files.createSymbolicLink(mount.resolve("application.properties"), Path.of("..data/application.properties"));
        try (BootSite site = start(
                YAML.formatted("1s", 1),
                "--spring.config.additional-location=file:" + mount + "/",
                "--spring.profiles.active=big")) {
            assertEquals(11, permits(site));
            version(mount, 2);
            Files.createSymbolicLink(mount.resolve("..tmp"), Path.of("..2"));
            Files.move(mount.resolve("..tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
            Await.until("the new limit", () -> permits(site) == 22);
        }
    }

    /** As Kubernetes mounts a ConfigMap with a key for each property. */
    @Test
    void aTreeOfFilesIsReloadedWithTheKeysThatItGets() throws IOException {
        Path mount = Files.createDirectory(folder.resolve("tree"));
        String key = "limiter.policies.vote.limits";
        Files.writeString(Files.createDirectory(mount.resolve("..1")).resolve(key), "11/1h\n");
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..1"));
        Files.createSymbolicLink(mount.resolve(key), Path.of("..data/" + key));
        try (BootSite site = start(YAML.formatted("1s", 1) + "spring.config.import: configtree:" + mount + "/\n");
                LogLines log = new LogLines()) {
            assertEquals(11, permits(site));
            Files.writeString(Files.createDirectory(mount.resolve("..2")).resolve(key), "22/1h\n");
            Files.createSymbolicLink(mount.resolve("..tmp"), Path.of("..2"));
            Files.move(mount.resolve("..tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
            Await.until("the new limit", () -> permits(site) == 22);
            Files.writeString(mount.resolve("limiter.policies.more.limits"), "5/1h");
            Await.until(
                    "the new policy",
                    () -> site.bean(Limiter.class).config().policies().containsKey("more"));
            Path shadow = Files.writeString(mount.resolve("limiter.rules.pages.shadow"), "true\n");
            Await.until("the shadow", () -> log.toString().contains("rules.pages.shadow: (not set) -> true"));
            Files.delete(shadow);
            Await.until("none", () -> log.toString().contains("rules.pages.shadow: true -> (not set)"));
            Files.delete(mount.resolve(key));
            Await.until("refused", () -> log.toString().contains("RL-160"));
            assertEquals(22, permits(site), "a file that is gone takes no limit away");
        }
    }

    private static void version(Path mount, int version) throws IOException {
        Path one = Files.createDirectory(mount.resolve(".." + version));
        Files.writeString(one.resolve("application.properties"), """
                limiter.policies.vote.limits=%1$d/1h
                #---
                spring.config.activate.on-profile=big
                limiter.policies.vote.limits=${size:%1$d%1$d}/1h
                #---
                spring.config.activate.on-profile=small
                limiter.policies.vote.limits=%1$d%1$d%1$d/1h
                """.formatted(version));
    }

    @Test
    void withoutAFileOutsideOfTheJarItDoesNotStart() {
        String message = App.message(() -> BootSite.start(
                        ManagedSite.Site.class, "limiter.reload.interval=5s", "limiter.policies.vote.limits=1/1h")
                .close());
        assertTrue(message.contains("RL-158 limiter.reload.interval = 5s"), message);
    }
}
