package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import io.limiter.servlet.rejection.Rejection;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** An application that answers, fails and dispatches in many ways, behind rules that count some responses only. */
abstract class CountOnApp {
    static final String LOGIN = """
            limiter.rules.login.path = /*
            limiter.rules.login.limits = 5/1h
            limiter.rules.login.count-on = 401, 403, 5xx
            """;
    static final int LIMIT = 5;

    @TempDir
    Path directory;

    final AtomicInteger served = new AtomicInteger();
    final AtomicInteger completed = new AtomicInteger();
    final CountDownLatch ended = new CountDownLatch(1);
    final RateLimiter limiter = RateLimiters.on(
            InProcessBackend.builder().timeSource(new ManualTime()).build());
    LimiterConfig config = WebServer.config(LOGIN);
    Container server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        limiter.close();
    }

    void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        server = kind.make(directory)
                .filter("outermost", this::outermost)
                .filter("limiter", WebServer.limiter(limiter, rules, Rejection::writeTo));
        server.servlet("/answer", (request, response) -> {
                    served.incrementAndGet();
                    response.setStatus(status(request));
                })
                .servlet("/throw", (request, response) -> {
                    throw new ServletException("on purpose");
                })
                .servlet(
                        "/forward",
                        (request, response) -> request.getRequestDispatcher("/answer?s=" + status(request))
                                .forward(request, response))
                .servlet("/include", (request, response) -> {
                    request.getRequestDispatcher("/answer?s=200").include(request, response);
                    response.setStatus(status(request));
                })
                .servlet("/async-throw", (request, response) -> {
                    if (request.getAttribute("again") != null) {
                        throw new ServletException("on purpose");
                    }
                    request.setAttribute("again", true);
                    request.startAsync().dispatch("/async-throw");
                })
                .servlet("/async-timeout", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    async.setTimeout(50);
                    async.addListener(new Listener(
                            () -> {
                                response.setStatus(200);
                                async.complete();
                            },
                            () -> {}));
                })
                .servlet("/stream", (request, response) -> {
                    byte[] some = new byte[64_000];
                    try {
                        for (int i = 0; i < 100_000; i++) {
                            response.getOutputStream().write(some);
                        }
                    } finally {
                        ended.countDown();
                    }
                })
                .servlet("/page", (request, response) -> response.getWriter().write("sorry"))
                .errorPage(500, "/page")
                .start();
    }

    private static int status(HttpServletRequest request) {
        return Integer.parseInt(request.getParameter("s"));
    }

    /** What the client has left. */
    long left() {
        Policy policy = config.policies().values().iterator().next();
        return Looks.left(limiter, policy, PartitionKey.of("127.0.0.1"));
    }

    /** Sends a request and looks when it has ended, which may be after its response. */
    int assertKept(int kept, String path) {
        int before = completed.get();
        int status = server.get(path).statusCode();
        awaitCompleted(before + 1);
        assertEquals(LIMIT - kept, left(), path);
        return status;
    }

    void awaitCompleted(int requests) {
        Await.until(requests + " requests", () -> completed.get() >= requests);
    }

    /** Counts the requests that have ended, after the limiter has. */
    private void outermost(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        try {
            chain.doFilter(request, response);
        } finally {
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                if (request.isAsyncStarted()) {
                    request.getAsyncContext().addListener(new Listener(() -> {}, completed::incrementAndGet));
                } else {
                    completed.incrementAndGet();
                }
            }
        }
    }

    private record Listener(Runnable timedOut, Runnable ended) implements AsyncListener {
        @Override
        public void onTimeout(AsyncEvent event) {
            timedOut.run();
        }

        @Override
        public void onComplete(AsyncEvent event) {
            ended.run();
        }

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
