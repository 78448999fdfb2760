package io.limiter.compat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.RateLimitFilter;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where Undertow differs: its request is the same object in each dispatch, and its handlers replace the client's address. */
class UndertowTest {
    private static final String RULE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1h\n";

    private final HttpClient client = HttpClient.newHttpClient();
    private Undertow server;
    private Limiter limiter;

    private static final class Application extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            if (request.getServletPath().equals("/forward")) {
                request.getRequestDispatcher("/target").forward(request, response);
            } else if (request.getServletPath().equals("/async")
                    && request.getDispatcherType() == DispatcherType.REQUEST) {
                request.startAsync().dispatch("/target");
            } else {
                response.setStatus(request.getParameter("fail") == null ? 200 : 401);
            }
        }
    }

    private void start(String rules, UnaryOperator<HttpHandler> before) throws Exception {
        LimiterConfig config =
                LimiterConfig.builder().text("test", new StringReader(rules)).build();
        limiter = Limiter.of(config, RateLimiters.on(InProcessBackend.builder().build()));
        RateLimitFilter filter = new RateLimitFilter(limiter);
        DeploymentInfo application = Servlets.deployment()
                .setClassLoader(getClass().getClassLoader())
                .setContextPath("/")
                .setDeploymentName("test")
                .addFilter(Servlets.filter("limiter", RateLimitFilter.class, new ImmediateInstanceFactory<>(filter))
                        .setAsyncSupported(true))
                .addServlet(
                        Servlets.servlet("app", Application.class, new ImmediateInstanceFactory<>(new Application()))
                                .setAsyncSupported(true)
                                .addMapping("/*"));
        for (DispatcherType type : DispatcherType.values()) {
            application.addFilterUrlMapping("limiter", "/*", type);
        }
        DeploymentManager deployed = Servlets.defaultContainer().addDeployment(application);
        deployed.deploy();
        server = Undertow.builder()
                .addHttpListener(0, "127.0.0.1")
                .setHandler(before.apply(deployed.start()))
                .build();
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop();
        limiter.close();
    }

    private List<Integer> statuses(int calls, String path, String... headers) {
        return Stream.generate(() -> status(path, headers)).limit(calls).toList();
    }

    private int status(String path, String... headers) {
        int port = ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        try {
            return client.send(
                            (headers.length == 0 ? request : request.headers(headers)).build(),
                            BodyHandlers.discarding())
                    .statusCode();
        } catch (IOException | InterruptedException failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void whatAResponseGivesBackIsGivenBackHoweverItWasDispatched() throws Exception {
        start(RULE + "limiter.rules.all.count-on = 401\n", handler -> handler);
        for (String path : List.of("/page", "/forward", "/async", "/forward", "/async")) {
            assertEquals(List.of(200, 200, 200, 200), statuses(4, path), path);
        }
        assertEquals(List.of(401, 401, 429), statuses(3, "/forward?fail=1"));
    }

    @Test
    void anExemptAddressThatTheClientWroteIsCounted() throws Exception {
        start(RULE + "limiter.exempt.addresses = 10.9.0.0/16\n", Handlers::proxyPeerAddress);
        assertEquals(List.of(200, 200, 429), statuses(3, "/page", "X-Forwarded-For", "10.9.1.1"));
    }

    @Test
    void theClientOfAConnectionIsFoundBelowTheHandler() throws Exception {
        start(
                RULE + "limiter.exempt.addresses = 10.9.0.0/16\nlimiter.client-ip.source = connection\n"
                        + "limiter.client-ip.trusted-proxies = 127.0.0.1\n",
                Handlers::proxyPeerAddress);
        assertEquals(List.of(200, 200, 429), statuses(3, "/page", "X-Forwarded-For", "10.9.1.1, 192.0.2.1"));
        assertEquals(List.of(200, 200, 200), statuses(3, "/page", "X-Forwarded-For", "192.0.2.1, 10.9.1.1"));
    }

    @Test
    void aDeniedPeerCannotWriteItselfAnotherAddress() throws Exception {
        start(RULE + "limiter.deny.addresses = loopback\n", Handlers::proxyPeerAddress);
        assertEquals(403, status("/page", "X-Forwarded-For", "192.0.2.1"));
    }

    @Test
    void aDirectCallerIsExempt() throws Exception {
        start(RULE + "limiter.exempt.addresses = loopback\n", Handlers::proxyPeerAddress);
        assertEquals(List.of(200, 200, 200), statuses(3, "/page"));
    }
}
