package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.spring.RateLimited;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A mistake in the configuration is once in everything that a failed startup prints, in an application that silences nothing. */
@ExtendWith(OutputCaptureExtension.class)
class StartupLogTest {
    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Site {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithVotes {
        @Bean
        Votes votes() {
            return new Votes();
        }
    }

    static class Votes {
        @RateLimited("vote")
        public void vote() {}
    }

    @Test
    void mistakesInTheConfiguration(CapturedOutput output) {
        String log = failed(output, Site.class, "limiter.rules.r: {path: /api/.*, methods: GET|POST, limits: 1/1m}");
        assertOnce("RL-104 limiter.rules.r.path = /api/.*: '/api/.*' can't be matched", log);
        assertOnce("RL-104 limiter.rules.r.methods = GET|POST: 'GET|POST' is not a registered HTTP method", log);
        assertTrue(log.contains("RL-104: the limiter does not start; the failure report has the reason"), log);
    }

    @Test
    void anApplicationThatIsSwitchedOff(CapturedOutput output) {
        String log = failed(output, Site.class, "limiter: {enabled: false, backend: redsi}");
        assertOnce("limiter.backend = redsi", log);
    }

    @Test
    void aClassThatDoesNotFit(CapturedOutput output) {
        assertOnce(
                "RL-114 limiter.rules.r.key = java.lang.String: can't be made",
                failed(output, Site.class, "limiter.rules.r: {path: /x, key: 'class:java.lang.String', limits: 1/1m}"));
    }

    @Test
    void anAnnotation(CapturedOutput output) {
        assertOnce("no policy 'vote' is configured", failed(output, WithVotes.class, "limiter.instances: 1"));
    }

    private String failed(CapturedOutput output, Class<?> application, String yaml) {
        assertThrows(
                RuntimeException.class,
                () -> new SpringApplicationBuilder(application)
                        .properties("server.port=0", "logging.level.root=info")
                        .run(BootSite.arguments(folder, yaml)));
        return output.getAll();
    }

    private static void assertOnce(String text, String log) {
        assertEquals(
                1, Pattern.compile(Pattern.quote(text)).matcher(log).results().count(), log);
    }
}
