package io.limiter.servlet;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.door.Client;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * One site on a real Tomcat or Jetty, behind the filter with some rules. Its one servlet answers every path, with how its
 * router could read it: by the servlet API, and by the request line. {@code /go?forward=/x} and {@code /go?async=/x}
 * dispatch. The headers {@code Test-Address}, {@code Test-User} and {@code Test-Role} say who the request comes from.
 */
final class RuleSite implements AutoCloseable {
    /** What serves it; lax ones let every path in that they can. */
    enum Container {
        TOMCAT,
        LAX_TOMCAT,
        JETTY,
        LAX_JETTY
    }

    final AtomicInteger served = new AtomicInteger();
    final ManualTime time = new ManualTime();
    final RateLimiter rateLimiter = RateLimiters.on(Backends.inProcess(time));
    private final io.limiter.servlet.Container server;

    RuleSite(Container container, Path directory, String rules) {
        Filter filter = WebServer.limiter(rateLimiter, rules);
        server = switch (container) {
            case TOMCAT -> new WebServer(directory);
            case LAX_TOMCAT -> lax(new WebServer(directory));
            case JETTY -> new JettyServer().filter("peer", new WebServer.Peer());
            case LAX_JETTY -> new JettyServer().lax().filter("peer", new WebServer.Peer());
        };
        server.filter("limiter", filter).servlet("/*", this::answer).start();
    }

    private static WebServer lax(WebServer tomcat) {
        tomcat.connector().setEncodedSolidusHandling("decode");
        tomcat.connector().setAllowBackslash(true);
        return tomcat;
    }

    private void answer(HttpServletRequest request, HttpServletResponse response)
            throws IOException, jakarta.servlet.ServletException {
        String forward = request.getParameter("forward");
        String async = request.getParameter("async");
        if (request.getDispatcherType() == DispatcherType.REQUEST && forward != null) {
            request.getRequestDispatcher(forward).forward(request, response);
        } else if (request.getDispatcherType() == DispatcherType.REQUEST && async != null) {
            request.startAsync().dispatch(async);
        } else {
            served.incrementAndGet();
            String info = request.getPathInfo();
            response.getWriter()
                    .write(request.getServletPath() + (info == null ? "" : info) + "\n" + request.getRequestURI());
        }
    }

    HttpResponse<String> send(String method, String path, String body, String... headers) {
        return server.send(method, path, body, headers);
    }

    HttpResponse<String> get(String path, String... headers) {
        return send("GET", path, "", headers);
    }

    int status(String path, String... headers) {
        return get(path, headers).statusCode();
    }

    /** How many of this number of calls of one path reach the application. */
    int reached(int calls, String path, String... headers) {
        int before = served.get();
        IntStream.range(0, calls).forEach(i -> get(path, headers));
        return served.get() - before;
    }

    /** The answer to a request that is sent as these lines, octet by octet. */
    Client.Response raw(String... lines) {
        return new Client(server.port(), List.of(lines)).response();
    }

    @Override
    public void close() {
        server.close();
        rateLimiter.close();
    }
}
