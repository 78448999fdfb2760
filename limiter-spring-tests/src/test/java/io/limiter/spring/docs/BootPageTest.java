package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Pages;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.docs.boot.VoteApplication;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** README.md and the pages about Spring Boot: their application runs, and answers and prints what they show. */
@ExtendWith(OutputCaptureExtension.class)
class BootPageTest {
    private static final String START = Pages.text("getting-started/spring-boot");
    private static final String FAILURES = Pages.text("spring/startup-failures");

    /** The tests have Spring Security on their class path; the application of the page has not. */
    static final String WITHOUT_SECURITY = "--spring.autoconfigure.exclude="
            + "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration,"
            + "org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration";

    @TempDir
    Path folder;

    @Test
    void theFiveMinutes() throws IOException {
        List<String> yaml = Pages.blocks(START, "yaml");
        // A busy machine may need the ten seconds of the page for four calls.
        try (BootSite site = start(yaml.get(0).replace("3/10s", "3/1000s"))) {
            assertEquals(List.of(200, 200, 200, 429), site.statuses(4, "POST", "/votes"));
        }
        try (BootSite site = start(yaml.get(0) + yaml.get(1).replace("limiter:\n", ""))) {
            LimiterConfig config = site.bean(Limiter.class).config();
            assertEquals("api", config.settings().rules().get(0).name());
            assertEquals(404, site.call("GET", "/api/none").statusCode());
        }
    }

    /** An application without code, at a fixed time. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class StillApplication {
        @Bean
        RateLimiter rateLimiter() {
            return RateLimiters.on(
                    InProcessBackend.builder().timeSource(new ManualTime()).build());
        }
    }

    @Test
    void theReadmeShowsTheWholeAnswer() throws IOException {
        String yaml = Pages.blocks(Pages.readme(), "yaml").get(0);
        List<String> answer =
                Pages.blocks(Pages.readme(), "http").get(0).lines().toList();
        String home = Pages.read(Pages.root().resolve("site/index.md"));
        assertEquals(Pages.blocks(Pages.readme(), "http"), Pages.blocks(home, "http"));
        Matcher request =
                Pattern.compile("curl -si http://localhost:8080(/\\S+)\n").matcher(Pages.readme());
        assertTrue(request.find());
        String path = request.group(1);
        try (BootSite site = BootSite.start(folder, yaml, StillApplication.class, WITHOUT_SECURITY)) {
            assertEquals(List.of(404, 404, 404), site.statuses(3, "GET", path));
            HttpResponse<String> denied = site.call("GET", path);
            List<String> sent = new ArrayList<>(List.of("HTTP/1.1 " + denied.statusCode()));
            denied.headers().map().forEach((name, values) -> values.forEach(value -> sent.add(name + ": " + value)));
            int end = answer.indexOf("");
            assertEquals(withoutDate(sent), withoutDate(answer.subList(0, end)));
            assertEquals(denied.body(), answer.get(end + 1));
        }
    }

    private static Set<String> withoutDate(List<String> head) {
        return head.stream()
                .map(line -> line.replaceFirst("(?i)^date: .*", "date"))
                .map(line -> line.toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theFailureReport(CapturedOutput output) throws IOException {
        String expected = Pages.blocks(FAILURES, "text").get(0);
        assertThrows(
                RuntimeException.class,
                () -> start(Pages.blocks(FAILURES, "yaml").get(0)).close());
        String printed = output.getAll();
        printed = printed.substring(printed.lastIndexOf("Description:"))
                .replaceAll("(?:file|URL) \\[\\S*/(\\S+)]", "class path resource [$1]");
        assertEquals(expected, printed.substring(0, expected.length()));
    }

    @Test
    void theFileThatIsLookedAt() throws IOException {
        String yaml = Pages.blocks(Pages.text("spring/boot"), "yaml").stream()
                .filter(block -> block.contains("reload.interval: "))
                .findFirst()
                .orElseThrow();
        try (BootSite site = start(yaml)) {
            LimiterConfig config = site.bean(Limiter.class).config();
            assertEquals(Duration.ofSeconds(5), config.settings().reload().interval());
            assertEquals(
                    List.of(folder.resolve("application.yml")),
                    config.settings().reload().files());
        }
    }

    private BootSite start(String yaml) {
        return BootSite.start(folder, yaml, VoteApplication.class, WITHOUT_SECURITY);
    }
}
