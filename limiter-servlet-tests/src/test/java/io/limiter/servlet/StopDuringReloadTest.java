package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration that changes while the container stops the application: neither waits for the other. */
class StopDuringReloadTest {
    @TempDir
    Path directory;

    /** Is destroyed before the limiter's, under the same lock of Tomcat. */
    private static final class Slow implements Filter {
        private final CountDownLatch ending = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            chain.doFilter(request, response);
        }

        @Override
        public void destroy() {
            ending.countDown();
            try {
                assertTrue(mayEnd.await(120, TimeUnit.SECONDS));
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static String rules(String path) {
        return "limiter.rules.all.path = " + path + "\nlimiter.rules.all.limits = 1/1h\n";
    }

    @Test
    void neitherWaitsForTheOther() throws Exception {
        Slow slow = new Slow();
        try (Limiter limiter = Limiter.start(WebServer.config(rules("/*")))) {
            WebServer server = new WebServer(directory)
                    .filter("a", slow)
                    .filter("limiter", new RateLimitFilter(limiter))
                    .servlet("/", Answer.text("ok"))
                    .start();
            // Threads of their own: the common pool has few, and both may wait.
            CompletableFuture<Void> stopped =
                    CompletableFuture.runAsync(server::close, task -> new Thread(task).start());
            assertTrue(slow.ending.await(60, TimeUnit.SECONDS));
            try {
                CompletableFuture.runAsync(
                                () -> limiter.replace(WebServer.config(rules("/api/*"))),
                                task -> new Thread(task).start())
                        .get(60, TimeUnit.SECONDS);
            } finally {
                slow.mayEnd.countDown();
            }
            stopped.get(60, TimeUnit.SECONDS);
        }
    }
}
