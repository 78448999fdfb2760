package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Facts;
import io.limiter.spring.RateLimited;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/** Keys one level out of {@code limiter} are reported, and so are the policies that then nothing uses; those of others are not. */
@ExtendWith(OutputCaptureExtension.class)
class MisplacedKeysTest {
    @TempDir
    Path folder;

    /** Spring Boot sets up logging anew, so it is read where users read it. */
    private final CapturedOutput output;

    MisplacedKeysTest(CapturedOutput output) {
        this.output = output;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @Import({Site.class, Votes.class, LazyVotes.class})
    static class AnnotatedSite {}

    static class Votes {
        @RateLimited(value = "vote", key = "global")
        public void vote() {}
    }

    @Lazy
    static class LazyVotes {
        @RateLimited(value = "later", key = "global")
        public void vote() {}
    }

    private List<String> told(String code, String yaml, Class<?> configuration, String... arguments) {
        int before = output.getOut().length();
        BootSite.application(configuration)
                .web(WebApplicationType.NONE)
                .run(BootSite.arguments(folder, yaml, arguments))
                .close();
        return output.getOut()
                .substring(before)
                .lines()
                .filter(line -> line.contains(code))
                .toList();
    }

    private static final String RULES_OUT = """
            limiter:
              policies:
                vote.limits: 3/10s
            rules:
              api:
                path: /api/*
                policy: vote
              login:
                path: [/login, /logout]
                limits:
                  - 5/1m
            """;

    @Test
    void rulesOneLevelOutAreReportedWithTheirLines() {
        List<String> lines = told("RL-141", RULES_OUT, Site.class);
        assertEquals(1, lines.size(), lines::toString);
        Facts.toldInOneLine(
                lines.get(0), "RL-141 2 ", "rules.api.policy (", "application.yml] - 7:", "rules.login.limits[0] (");
    }

    @Test
    void policiesAndClientsOneLevelOutToo() {
        List<String> lines = told("RL-141", """
                limiter.rules.all: {path: /*, limits: 100/1m}
                policies:
                  vote:
                    limits: 3/10s
                    on-failure: deny
                client-ip:
                  trusted-proxies: 10.0.0.0/8
                """, Site.class);
        assertEquals(1, lines.size(), lines::toString);
        Facts.toldInOneLine(lines.get(0), "RL-141 2 ", "policies.vote.limits (", "client-ip.trusted-proxies (");
    }

    @Test
    void rulesWithoutThePathOfTheDispatcherServletAreReported() {
        String rules = """
                limiter.rules:
                  api: {path: /api/*, limits: 5/1m}
                  login: {path: /login, methods: POST, limits: 5/1m}
                  all: {path: /*, limits: 100/1m}
                """;
        String moved = "--spring.mvc.servlet.path=/v1";
        List<String> lines = toldBySite("RL-328", rules, Site.class, moved);
        assertEquals(1, lines.size(), lines::toString);
        Facts.toldInOneLine(lines.get(0), "RL-328", "[/v1/*]", "[api (/api/*)].", "limiter.rules.api.path = /v1/api/*");
        assertEquals(List.of(), toldBySite("RL-328", rules, Site.class));
        assertEquals(List.of(), toldBySite("RL-328", rules.replace("/api", "/v1/api"), Site.class, moved));
        assertEquals(List.of(), toldBySite("RL-328", rules, Site.class, "--server.servlet.context-path=/v1"));
    }

    private List<String> toldBySite(String code, String yaml, Class<?> configuration, String... arguments) {
        int before = output.getOut().length();
        BootSite.start(folder, yaml, configuration, arguments).close();
        return output.getOut()
                .substring(before)
                .lines()
                .filter(line -> line.contains(code))
                .toList();
    }

    @Test
    void keysBelowAMisspelledLimiterToo() {
        for (String root : List.of("limter", "limiters", "rate-limiter", "lim-iter", "spring.limiter")) {
            List<String> lines = told("RL-141", """
                    limiter.rules.all: {path: /*, limits: 100/1m}
                    %1$s:
                      deny.addresses: 192.0.2.1
                      rules.b: {path: /b, limits: 3/1h}
                    """.formatted(root), Site.class);
            assertEquals(1, lines.size(), root);
            Facts.toldInOneLine(lines.get(0), "RL-141 2 ", root + ".deny.addresses (");
        }
        assertEquals(List.of(), told("RL-141", """
                limiter.rules.all: {path: /*, limits: 100/1m}
                limit.rules.b: {path: /b, limits: 10 percent}
                limits.deny: true
                """, Site.class));
    }

    @Test
    void thoseOfOthersAreNot() {
        assertEquals(List.of(), told("RL-14", """
                limiter.rules.all: {path: /*, limits: 100/1m}
                rules:
                  discount:
                    limits: 10 percent
                    key: customers
                  route:
                    path: /api/*
                    key: ip
                    policy: round-robin
                  enabled: true
                policies:
                  password:
                    limits.length: 12
                  retention: 30d
                  gold.limit: 10/1s
                client-ip: 192.0.2.1
                """, Site.class));
    }

    @Test
    void thoseThatAreUsedAreNot() {
        String used = """
                limiter:
                  policies:
                    vote.limits: 3/10s
                    later.limits: 3/10s
                    ruled.limits: 3/10s
                  rules:
                    api: {path: /api/*, policy: ruled}
                    own: {path: /own/*, limits: 1/1s}
                """;
        assertEquals(List.of(), told("RL-14", used, AnnotatedSite.class));
        assertEquals(List.of(), told("RL-14", used, AnnotatedSite.class, "--spring.main.lazy-initialization=true"));
        assertEquals(List.of(), told("RL-14", RULES_OUT, Site.class, "--limiter.enabled=false"), "RL-118 reports it");
    }
}
