package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that come to the filter several times, on Jetty. */
class JettyDispatchTest {
    private static final String PAGE = "limiter.rules.page.path = /page\nlimiter.rules.page.limits = 0/1h\n";

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);
    private final ServletContextHandler context = new ServletContextHandler("/");
    private final AtomicInteger served = new AtomicInteger();

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    private JettyDispatchTest filter(Filter filter) {
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
        return this;
    }

    private JettyDispatchTest servlet(String path, WebServer.Answer answer) {
        ServletHolder holder = new ServletHolder(new HttpServlet() {
            private static final long serialVersionUID = 1L;

            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response)
                    throws IOException, ServletException {
                answer.to(request, response);
            }
        });
        holder.setAsyncSupported(true);
        context.addServlet(holder, path);
        return this;
    }

    private HttpResponse<String> get(String path) throws Exception {
        servlet("/page", (request, response) -> {
            served.incrementAndGet();
            response.getWriter().write("served");
        });
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        return WebServer.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + connector.getLocalPort() + path)));
    }

    /** Jetty's chain can run twice; Tomcat's goes straight to the servlet the second time. */
    @Test
    void aFilterThatCallsTheChainAgainIsDecidedAgain() throws Exception {
        filter((request, response, chain) -> {
                    chain.doFilter(request, response);
                    chain.doFilter(request, response);
                })
                .filter(WebServer.limiter(new ManualTime(), PAGE));
        assertEquals(429, get("/page").statusCode());
        assertEquals(0, served.get());
    }

    @Test
    void aFilterThatDispatchesIsDecidedAgain() throws Exception {
        CountDownLatch cameBack = new CountDownLatch(1);
        filter((request, response, chain) -> {
                    chain.doFilter(request, response);
                    if (request.getDispatcherType() == DispatcherType.REQUEST) {
                        request.startAsync().dispatch();
                    } else {
                        cameBack.countDown();
                    }
                })
                .filter(WebServer.limiter(new ManualTime(), PAGE));
        assertEquals(429, get("/page").statusCode());
        assertTrue(cameBack.await(60, TimeUnit.SECONDS), "no asynchronous dispatch");
        assertEquals(0, served.get());
    }

    @Test
    void aForwardInsideAnIncludeNeverCuts() throws Exception {
        filter(WebServer.limiter(new ManualTime(), PAGE))
                .servlet(
                        "/forward",
                        (request, response) ->
                                request.getRequestDispatcher("/page").forward(request, response))
                .servlet(
                        "/include",
                        (request, response) ->
                                request.getRequestDispatcher("/forward").include(request, response));
        assertEquals("served", get("/include").body());
    }

    @Test
    void theAttributeOfAnIncludeExemptsNoForward() throws Exception {
        filter(WebServer.limiter(new ManualTime(), PAGE)).servlet("/forward", (request, response) -> {
            request.setAttribute(RequestDispatcher.INCLUDE_REQUEST_URI, "/page");
            request.getRequestDispatcher("/page").forward(request, response);
        });
        assertEquals(429, get("/forward").statusCode());
        assertEquals(0, served.get());
    }
}
