package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Bean;
import io.limiter.spring.RateLimited;

@ExtendWith(OutputCaptureExtension.class)
class StartupLogTest {
    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Annotated {
        @Bean Votes votes() { return new Votes(); }
    }
    static class Votes {
        @RateLimited("nope") public void vote() {}
    }

    private void show(CapturedOutput output, String yaml, Class<?> app) {
        assertThrows(RuntimeException.class, () -> new org.springframework.boot.builder.SpringApplicationBuilder(app)
                .properties("spring.main.banner-mode=off", "server.port=0")
                .run(BootSite.arguments(folder, yaml)));
        System.err.println("=====\n" + output.getAll().replaceAll("(?m)^\tat .*\n", ""));
    }

    @Test
    void a(CapturedOutput output) {
        show(output, "limiter.rules.r: {path: /api/.*, methods: GET|POST, limits: 1/1m}", App.class);
    }
    @Test
    void b(CapturedOutput output) {
        show(output, "limiter.rules.r: {path: /api/*, key: 'class:java.lang.String', limits: 1/1m}", App.class);
    }
    @Test
    void c(CapturedOutput output) {
        show(output, "limiter.rules.r: {path: /api/*, limits: 1/1m}", Annotated.class);
    }
}
