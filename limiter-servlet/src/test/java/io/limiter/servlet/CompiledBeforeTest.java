package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Classes that a configuration names, as compiled before the Java API was settled: {@code compiled-before} in the test
 * resources, with their sources, which are not compiled here. They must run without being compiled again.
 */
class CompiledBeforeTest {
    private static final String RULES = """
            limiter.rules.api.path = /api/*
            limiter.rules.api.key = class:earlier.UserKey
            limiter.rules.api.cost = earlier.LengthCost
            limiter.rules.api.limits = 10/1h
            limiter.http.rejection-handler = earlier.TeapotAnswer
            """;

    @TempDir
    Path directory;

    /** As a container sets it for a web application. */
    private static RateLimitFilter filter() throws Exception {
        URL folder = CompiledBeforeTest.class.getResource("/compiled-before/");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(new URLClassLoader(new URL[] {folder}, before));
        try {
            InProcessBackend backend =
                    InProcessBackend.builder().timeSource(new ManualTime()).build();
            return RateLimitFilter.builder(Limiter.of(WebServer.config(RULES), RateLimiters.on(backend)))
                    .build();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void keysCostsAndRejectionsRunAsTheyAre() throws Exception {
        try (WebServer server = new WebServer(directory)
                .filter("limiter", filter())
                .servlet("/", WebServer.Answer.text("ok"))
                .start()) {
            assertEquals(200, server.get("/api/a?12345678", "Test-User", "ann").statusCode());
            HttpResponse<String> denied = server.get("/api/a?123", "Test-User", "ann");
            assertEquals(418, denied.statusCode());
            assertEquals("[api] 3600", denied.body());
            assertEquals(200, server.get("/api/a?12", "Test-User", "ann").statusCode());
            assertEquals(418, server.get("/api/a", "Test-User", "ann").statusCode());
            assertEquals(200, server.get("/api/a", "Test-User", "bob").statusCode());
        }
    }
}
