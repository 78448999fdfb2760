package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.spring.RateLimited;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * A start reports what a slip in the file has as its consequence: an application that limits nothing (RL-138), policies that nothing uses
 * (RL-140), keys that are not below {@code limiter} (RL-141), and rules without the path of the dispatcher servlet (RL-328).
 */
@ExtendWith(OutputCaptureExtension.class)
class MisplacedKeysTest {
    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class WebSite {}

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

    record ByCode(Limiter limiter) {}

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class SiteOfCode {
        @Bean
        ByCode byCode(Limiter limiter) {
            return new ByCode(limiter);
        }
    }

    /** An interface whose objects are proxies. */
    public interface Remote {
        @RateLimited(limits = "1/1h", key = "global")
        void call();
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class ProxySite {
        @Bean
        Remote remote() {
            return (Remote) Proxy.newProxyInstance(
                    Remote.class.getClassLoader(), new Class<?>[] {Remote.class}, (proxy, method, arguments) -> null);
        }
    }

    /** Nothing needs its product at startup. */
    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class LaterSite {
        @Bean
        FactoryBean<Remote> remote() {
            return new FactoryBean<>() {
                @Override
                public Remote getObject() {
                    return new ProxySite().remote();
                }

                @Override
                public Class<?> getObjectType() {
                    return Remote.class;
                }
            };
        }
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
    private static final String ALL = "limiter.rules.all: {path: /*, limits: 100/1m}\n";
    private static final String API = "limiter.rules.api: {path: /api/*, limits: 5/1m}\n"
            + "limiter.rules.login: {path: /login, methods: POST, limits: 5/1m}\n" + ALL;
    private static final String USED = """
            limiter:
              policies: {vote.limits: 3/10s, later.limits: 3/10s, ruled.limits: 3/10s}
              rules: {api: {path: /api/*, policy: ruled}, own: {path: /own/*, limits: 1/1s}}
            """;
    private static final String MOVED = "spring.mvc.servlet.path: /v1\n";
    private static final String LAZY = "spring.main.lazy-initialization: true\n";

    /** A file, the application that has it, and the facts of each line that is logged. */
    private static Arguments row(String yaml, Class<?> site, String... lines) {
        return arguments(yaml, site, List.of(lines));
    }

    static Stream<Arguments> reported() {
        return Stream.of(
                row(
                        RULES_OUT,
                        Site.class,
                        "RL-141 2 | rules.api.policy ( | application.yml] - 7: | rules.login.limits[0] (",
                        "RL-140 | [vote]"),
                row(
                        ALL
                                + "policies: {vote: {limits: 3/10s, on-failure: deny}}\n"
                                + "client-ip.trusted-proxies: 10.0.0.0/8",
                        Site.class,
                        "RL-141 2 | policies.vote.limits ( | client-ip.trusted-proxies ("),
                row(
                        "limiter:\nrules:\n  api: {path: /api/*, limits: 1/1m}",
                        Site.class,
                        "RL-138",
                        "RL-141 | indentation | rules.api.limits ("),
                row(
                        "Rate-Limiter.rules.api.limits: 1/1m",
                        Site.class,
                        "RL-138",
                        "RL-141 | rate-limiter.rules.api.limits ("),
                row("", WebSite.class, "RL-138"),
                row("limiter.policies.by-code.limits: 1/1h", Site.class, "RL-140 | [by-code]"),
                row(
                        "",
                        Site.class,
                        "RL-138 | @RateLimited | limiter.rules.api.path = /api/* | limiter.rules.api.limits = 100/1m |"
                                + " remove the library"),
                row(
                        MOVED + API,
                        WebSite.class,
                        "RL-328 | [/v1/*] | [api (/api/*), login (/login)]. | limiter.rules.api.path = /v1/api/* |"
                                + " Ignore this if a filter or a file answers there"));
    }

    static Stream<Arguments> misspelled() {
        return Stream.of("limter", "limiters", "rate-limiter", "lim-iter", "spring.limiter")
                .map(root -> row(
                        ALL + root + ": {deny.addresses: 192.0.2.1, rules.b: {path: /b, limits: 3/1h}}",
                        Site.class,
                        "RL-141 2 | " + root + ".deny.addresses ("));
    }

    static Stream<Arguments> notReported() {
        return Stream.of(
                row(API, WebSite.class),
                row(MOVED + API.replace(": /", ": /v1/"), WebSite.class),
                row("server.servlet.context-path: /v1\n" + API, WebSite.class),
                // Keys of others.
                row(ALL + "limit.rules.b: {path: /b, limits: 10 percent}\nlimits.deny: true", Site.class),
                row(ALL + """
                        rules:
                          discount: {limits: 10 percent, key: customers}
                          route: {path: /api/*, key: ip, policy: round-robin}
                          enabled: true
                        policies: {password: {limits.length: 12}, retention: 30d, gold.limit: 10/1s}
                        client-ip: 192.0.2.1
                        """, Site.class),
                // What is used.
                row(USED, AnnotatedSite.class),
                row(LAZY + USED, AnnotatedSite.class),
                row("", SiteOfCode.class),
                row("", ProxySite.class),
                row("", LaterSite.class),
                // RL-118 reports it.
                row("limiter.enabled: false\n" + RULES_OUT.replaceFirst("limiter:\n.*\n.*\n", ""), Site.class),
                row("limiter.enabled: false", Site.class));
    }

    @ParameterizedTest
    @MethodSource({"reported", "misspelled", "notReported"})
    void atStartup(String yaml, Class<?> site, List<String> expected, CapturedOutput output) {
        // Spring Boot sets up logging anew, so it is read where users read it.
        BootSite.application(site)
                .web(site == WebSite.class ? WebApplicationType.SERVLET : WebApplicationType.NONE)
                .run(BootSite.arguments(folder, yaml))
                .close();
        List<String> lines = output.getOut()
                .lines()
                .filter(line -> line.matches(".*RL-(138|14|328).*"))
                .toList();
        assertEquals(expected.size(), lines.size(), lines::toString);
        for (int i = 0; i < lines.size(); i++) {
            Facts.toldInOneLine(lines.get(i), ("WARN | " + expected.get(i)).split(" \\| "));
        }
    }
}
