package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Facts;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.logging.StreamHandler;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.ForwardedHeaderFilter;

/** What Spring and Spring Boot do with forwarded headers before the limiter's filter. */
@ExtendWith(OutputCaptureExtension.class)
class ReplacedAddressOfBootTest {
    private static final String YAML = """
            limiter:
              rules:
                all:
                  path: /page
                  limits: 2/1m
            """;
    private static final String EXEMPT = "--limiter.exempt.addresses=10.9.0.0/16";
    private static final String EXEMPT_OF_RULE = "--limiter.rules.all.exempt.addresses=10.9.0.0/16";
    private static final String DENIED = "--limiter.deny.addresses=127.0.0.1";
    private static final String FRAMEWORK = "--server.forward-headers-strategy=framework";
    private static final String NATIVE = "--server.forward-headers-strategy=native";
    private static final String PLATFORM = "--spring.main.cloud-platform=kubernetes";
    private static final String VALVE = "--server.tomcat.remoteip.remote-ip-header=X-Forwarded-For";
    private static final String SOURCE = "--limiter.client-ip.source=";

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Page.class, BootSite.Open.class})
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class OwnFilter {
        @Bean
        ForwardedHeaderFilter forwarded() {
            return new ForwardedHeaderFilter();
        }
    }

    @RestController
    static class Page {
        @GetMapping("/page")
        public String page() {
            return "page";
        }

        @GetMapping("/limited")
        @RateLimited(limits = "2/1m", key = "ip")
        public String limited() {
            return "limited";
        }
    }

    private static List<Integer> forged(BootSite site, String path, int calls) {
        return IntStream.range(0, calls)
                .mapToObj(i ->
                        site.call("GET", path, "X-Forwarded-For", "10.9.1." + i).statusCode())
                .toList();
    }

    private void assertRefused(String code, Class<?> app, String... arguments) {
        String wrong =
                App.message(() -> BootSite.start(folder, YAML, app, arguments).close());
        assertTrue(wrong.startsWith(code), wrong);
    }

    /** Each way that addresses are replaced, and each property that needs to know them. */
    @Test
    void exemptOrDeniedAddressesNeedToKnowWhich() {
        assertRefused("RL-191", Site.class, FRAMEWORK, EXEMPT);
        assertRefused("RL-191", Site.class, NATIVE, DENIED);
        assertRefused("RL-191", Site.class, PLATFORM, EXEMPT_OF_RULE);
        assertRefused("RL-191", Site.class, VALVE, EXEMPT);
    }

    /** Tomcat logs why a filter does not start, through the logging of the JDK. */
    @Test
    void aFilterOfTheApplicationIsFoundToo() {
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        Handler handler = new StreamHandler(logged, new SimpleFormatter());
        Logger tomcat = Logger.getLogger("org.apache.catalina.core");
        tomcat.addHandler(handler);
        try {
            assertThrows(
                    Exception.class,
                    () -> BootSite.start(folder, YAML, OwnFilter.class, EXEMPT).close());
        } finally {
            tomcat.removeHandler(handler);
            handler.close();
        }
        Facts.toldInOneLine(logged.toString(), "RL-191 org.springframework.web.filter.ForwardedHeaderFilter");
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {NATIVE, PLATFORM, VALVE})
    void theValveRemovesTheHeaderThatAConnectionNeeds(String strategy) {
        assertRefused("RL-192", Site.class, strategy, SOURCE + "connection");
    }

    @Test
    void theConnectionIsFoundBelowTheFilterOfSpring() {
        try (BootSite site = BootSite.start(folder, YAML, Site.class, FRAMEWORK, EXEMPT, SOURCE + "connection")) {
            assertEquals(List.of(200, 200, 429, 429), forged(site, "/page", 4));
            assertEquals(List.of(200, 200, 429, 429), forged(site, "/limited", 4));
        }
        try (BootSite site = BootSite.start(folder, YAML, Site.class, FRAMEWORK, DENIED, SOURCE + "connection")) {
            assertEquals(List.of(403, 403), forged(site, "/page", 2));
        }
    }

    /** Without rules: each invented address has a new quota. */
    @Test
    void keysOfAnnotationsAloneAreEnough(CapturedOutput output) {
        for (String filter : List.of("true", "false")) {
            int before = output.toString().length();
            try (BootSite site =
                    BootSite.start(folder, "", Site.class, FRAMEWORK, "--limiter.filter.enabled=" + filter)) {
                assertEquals(List.of(200, 200, 200, 200, 200), forged(site, "/limited", 5));
            }
            String told = output.toString().substring(before);
            assertEquals(2, told.split("RL-330").length, told);
            assertTrue(told.contains("limiter.client-ip.source = connection"), told);
        }
        for (String known : List.of("connection", "container")) {
            int before = output.toString().length();
            BootSite.start(folder, "", Site.class, FRAMEWORK, SOURCE + known).close();
            assertEquals(-1, output.toString().indexOf("RL-330", before), known);
        }
    }

    /** The address decides nothing there. */
    @Test
    void keysWithoutAnAddressHaveNothingToSay(CapturedOutput output) {
        BootSite.start(folder, "limiter.policies.vote.limits: 2/1m", ByAnother.class, FRAMEWORK)
                .close();
        assertEquals(-1, output.toString().indexOf("RL-330"), output::toString);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({BootSite.Open.class, FailureMessagesTest.Votes.class})
    static class ByAnother {}
}
