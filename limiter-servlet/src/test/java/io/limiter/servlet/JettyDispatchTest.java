package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that come to the filter several times, on Jetty. */
class JettyDispatchTest {
    private static final String PAGE = "limiter.rules.page.path = /page\nlimiter.rules.page.limits = 0/1h\n";

    private final AtomicInteger served = new AtomicInteger();
    private final Container server = new JettyServer().servlet("/page", (request, response) -> {
        served.incrementAndGet();
        response.getWriter().write("served");
    });

    @AfterEach
    void stop() {
        server.close();
    }

    private void start() {
        server.filter("limiter", WebServer.limiter(new ManualTime(), PAGE)).start();
    }

    /** Jetty's chain can run twice; Tomcat's goes straight to the servlet the second time. */
    @Test
    void aFilterThatCallsTheChainAgainIsDecidedAgain() {
        server.filter("again", (request, response, chain) -> {
            chain.doFilter(request, response);
            chain.doFilter(request, response);
        });
        start();

        assertEquals(429, server.status("/page"));
        assertEquals(0, served.get());
    }

    @Test
    void aFilterThatDispatchesIsDecidedAgain() throws Exception {
        CountDownLatch cameBack = new CountDownLatch(1);
        server.filter("again", (request, response, chain) -> {
            chain.doFilter(request, response);
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                request.startAsync().dispatch();
            } else {
                cameBack.countDown();
            }
        });
        start();

        assertEquals(429, server.status("/page"));
        assertTrue(cameBack.await(60, TimeUnit.SECONDS), "no asynchronous dispatch");
        assertEquals(0, served.get());
    }

    @Test
    void aForwardInsideAnIncludeNeverCuts() {
        server.servlet(
                        "/forward",
                        (request, response) ->
                                request.getRequestDispatcher("/page").forward(request, response))
                .servlet(
                        "/include",
                        (request, response) ->
                                request.getRequestDispatcher("/forward").include(request, response));
        start();

        assertEquals("served", server.get("/include").body());
    }

    @Test
    void theAttributeOfAnIncludeExemptsNoForward() {
        server.servlet("/forward", (request, response) -> {
            request.setAttribute(RequestDispatcher.INCLUDE_REQUEST_URI, "/page");
            request.getRequestDispatcher("/page").forward(request, response);
        });
        start();

        assertEquals(429, server.status("/forward"));
        assertEquals(0, served.get());
    }
}
