package io.limiter.servlet;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.address.ClientAddressResolver;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

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
    final RateLimiter rateLimiter =
            RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
    private final AutoCloseable server;
    private final int port;

    RuleSite(Container container, Path directory, String rules) {
        this(container, directory, WebServer.config(rules));
    }

    RuleSite(Container container, Path directory, LimiterConfig config) {
        Filter filter = new RateLimitFilter(Limiter.of(config, rateLimiter));
        try {
            if (container == Container.TOMCAT || container == Container.LAX_TOMCAT) {
                WebServer tomcat = new WebServer(directory)
                        .filter("who", RuleSite::disguise)
                        .filter("limiter", filter)
                        .servlet("/*", this::answer);
                if (container == Container.LAX_TOMCAT) {
                    tomcat.connector().setEncodedSolidusHandling("decode");
                    tomcat.connector().setAllowBackslash(true);
                }
                port = tomcat.start().port();
                server = tomcat;
            } else {
                Server jetty = new Server();
                HttpConfiguration http = new HttpConfiguration();
                ServletContextHandler context = new ServletContextHandler("/");
                if (container == Container.LAX_JETTY) {
                    http.setUriCompliance(UriCompliance.UNSAFE);
                    context.getServletHandler().setDecodeAmbiguousURIs(true);
                }
                ServerConnector connector = new ServerConnector(jetty, new HttpConnectionFactory(http));
                jetty.addConnector(connector);
                add(context, RuleSite::disguise);
                add(context, filter);
                ServletHolder servlet = new ServletHolder(new Servlet());
                servlet.setAsyncSupported(true);
                context.addServlet(servlet, "/*");
                jetty.setHandler(context);
                jetty.start();
                port = connector.getLocalPort();
                server = jetty::stop;
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void add(ServletContextHandler context, Filter filter) {
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
    }

    private final class Servlet extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
            try {
                answer(request, response);
            } catch (jakarta.servlet.ServletException e) {
                throw new IOException(e);
            }
        }
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

    /** A filter by which a request says whose it is. */
    static Filter disguising() {
        return new jakarta.servlet.http.HttpFilter() {
            private static final long serialVersionUID = 1L;

            @Override
            protected void doFilter(
                    HttpServletRequest request, HttpServletResponse response, jakarta.servlet.FilterChain chain)
                    throws IOException, jakarta.servlet.ServletException {
                disguise(request, response, chain);
            }
        };
    }

    private static void disguise(
            jakarta.servlet.ServletRequest plain,
            jakarta.servlet.ServletResponse response,
            jakarta.servlet.FilterChain chain)
            throws IOException, jakarta.servlet.ServletException {
        HttpServletRequest request = (HttpServletRequest) plain;
        chain.doFilter(request.getDispatcherType() == DispatcherType.REQUEST ? new Caller(request) : request, response);
    }

    private static final class Caller extends HttpServletRequestWrapper {
        Caller(HttpServletRequest request) {
            super(request);
        }

        private String said(String header) {
            return super.getHeader(header);
        }

        @Override
        public String getRemoteAddr() {
            String address = said("Test-Address");
            return address == null ? super.getRemoteAddr() : address;
        }

        @Override
        public Object getAttribute(String name) {
            return name.equals(ClientAddressResolver.PEER) ? said("Test-Address") : super.getAttribute(name);
        }

        @Override
        public Principal getUserPrincipal() {
            String user = said("Test-User");
            return user == null ? null : () -> user;
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equals(said("Test-Role"));
        }
    }

    HttpResponse<String> send(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        return WebServer.send(headers.length == 0 ? request : request.headers(headers));
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

    /** The answer to a request that is sent as these lines, octet by octet; empty where the connection just ends. */
    String raw(List<String> lines) {
        String text = String.join("\r\n", lines) + "\r\nConnection: close\r\n\r\n";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (java.net.SocketException reset) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        rateLimiter.close();
    }
}
