package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.rule.KeyResolver;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;

/** Keys of query parameters, bearer tokens and classes of the application, over HTTP. Every key has room for one request. */
class KindsOfKeysTest extends Served {
    private final AtomicReference<String> body = new AtomicReference<>();

    private void start(Container.Kind container, String key) throws Exception {
        String rules = "limiter.rules.r.path = /page\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = " + key;
        server = container.start(
                directory,
                List.of(WebServer.limiter(limiter, rules)),
                Map.of(
                        "/page",
                        (request, response) -> {
                            body.set(request.getParameter("user"));
                            response.getWriter().write("ok");
                        },
                        "/forward",
                        (request, response) ->
                                request.getRequestDispatcher("/page?user=ann").forward(request, response),
                        "/async",
                        (request, response) -> {
                            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                                request.startAsync().dispatch("/page");
                            }
                        }));
    }

    private void assertPasses(String path, String... headers) {
        assertEquals(200, server.status(path, headers), path + " " + List.of(headers));
    }

    private void assertDenied(String path, String... headers) {
        assertEquals(429, server.status(path, headers), path + " " + List.of(headers));
    }

    @ParameterizedTest
    @EachContainer
    void eachValueOfAQueryParameterHasItsOwn(Container.Kind container) throws Exception {
        start(container, "query:user");
        assertPasses("/page?user=ann");
        assertDenied("/page?user=ann");
        assertDenied("/page?x=1&user=ann&y=2");
        assertPasses("/page?user=bob");
        assertPasses("/page?users=ann");
        // The address stands in from here on.
        assertDenied("/page");
        assertDenied("/page?user=");
        assertDenied("/page?user");
        assertDenied("/page?");
    }

    /** Whatever the application reads as ann is ann's quota, or that of the address: no spelling gives a new one each time. */
    @ParameterizedTest
    @EachContainer
    void noSpellingOfAQueryMakesAQuotaOfItsOwn(Container.Kind container) throws Exception {
        start(container, "query:user");
        assertPasses("/page?user=ann");
        for (String spelling : List.of(
                "%75ser=ann",
                "user=%61nn",
                "user=%61%6e%6E",
                "%75%73%65%72=%61%6e%6e",
                "user=ann+",
                "user=+ann",
                "user=%20ann%09",
                "user=ann&user=ann",
                "user=ann&%75ser=ann",
                "&&user=ann&&")) {
            assertDenied("/page?" + spelling);
        }
        // The application reads the first of several; all together have the one quota of the address.
        assertPasses("/page?user=ann&user=1");
        for (String spelling :
                List.of("user=ann&user=2", "user=3&user=ann", "user=ann&%75ser=4", "user=ann&user", "user=ann&user=")) {
            assertDenied("/page?" + spelling);
        }
    }

    @ParameterizedTest
    @EachContainer
    void aCharsetThatTheClientNamesMakesNoSecondSpelling(Container.Kind container) throws Exception {
        start(container, "query:user");
        assertPasses("/page?user=%C3%A9");
        assertDenied("/page?user=%C3%A9");
        // By ISO-8859-1 it would be another text, so it is ambiguous: the address stands in, once.
        String type = "text/plain;charset=";
        assertPasses("/page?user=%C3%A9", "Content-Type", type + "ISO-8859-1");
        assertDenied("/page?user=%C3%A9", "Content-Type", type + "windows-1252");
    }

    @ParameterizedTest
    @EachContainer
    void aFormIsNeverRead(Container.Kind container) throws Exception {
        start(container, "query:user");
        for (int expected : new int[] {200, 429}) {
            assertEquals(
                    expected,
                    WebServer.send(server.request("/page")
                                    .header("Content-Type", "application/x-www-form-urlencoded")
                                    .POST(BodyPublishers.ofString("user=" + expected)))
                            .statusCode());
        }
        assertEquals("200", body.get(), "the application still reads its form");
    }

    @ParameterizedTest
    @EachContainer
    void aForwardHasTheQueryThatItIsSentWith(Container.Kind container) throws Exception {
        start(container, "query:user");
        assertPasses("/forward?user=1");
        assertDenied("/forward?user=2");
        assertDenied("/page?user=ann");
        assertPasses("/async?user=bob");
        assertDenied("/page?user=bob");
    }

    @ParameterizedTest
    @EachContainer
    void eachBearerTokenHasItsOwn(Container.Kind container) throws Exception {
        start(container, "bearer");
        assertPasses("/page", "Authorization", "Bearer abc-._~+/9==");
        for (String same : List.of("bearer abc-._~+/9==", "BEARER   abc-._~+/9==", "Bearer abc-._~+/9== ")) {
            assertDenied("/page", "Authorization", same);
        }
        assertDenied("/page", "authorization", "Bearer abc-._~+/9==", "Authorization", "Bearer abc-._~+/9==");
        assertPasses("/page", "Authorization", "Bearer abd");
        String jwt = "e".repeat(2_000) + ".";
        assertPasses("/page", "Authorization", "Bearer " + jwt + "1");
        assertPasses("/page", "Authorization", "Bearer " + jwt + "2");
        assertDenied("/page", "Authorization", "Bearer " + jwt + "2");
    }

    @ParameterizedTest
    @EachContainer
    void whatIsNoBearerTokenIsMissing(Container.Kind container) throws Exception {
        start(container, "bearer");
        assertPasses("/page");
        for (String other : List.of(
                "Bearer",
                "Bearer ",
                "Bearera",
                "Basic abc",
                "abc",
                "Bearer a b",
                "Bearer a,b",
                "Bearer =",
                "Bearer a=b",
                "Bearer a, Bearer b",
                "Bearer \"a\"",
                "Bearer\ta",
                "Bearer a;b")) {
            assertDenied("/page", "Authorization", other);
        }
        assertDenied("/page", "Authorization", "Bearer one", "Authorization", "Bearer two");
    }

    /** By the tenant in the request; null without one, and an exception for a strange one. */
    public static final class ByTenant implements KeyResolver<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            String tenant = request.getHeader("Tenant");
            if ("fault".equals(tenant)) {
                throw new IllegalStateException("a strange tenant");
            }
            if ("linkage".equals(tenant)) {
                throw new NoClassDefFoundError("com/example/Tenants");
            }
            if ("memory".equals(tenant)) {
                throw new OutOfMemoryError("a test");
            }
            return tenant == null
                    ? null
                    : PartitionKey.builder().add("tenant", tenant).build();
        }
    }

    /** By the path that the servlet is asked for. */
    public static final class ByTarget implements KeyResolver<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            return PartitionKey.of(request.getServletPath() + request.getParameter("user"));
        }
    }

    @ParameterizedTest
    @EachContainer
    void aClassIsAskedForTheTargetOfADispatch(Container.Kind container) throws Exception {
        start(container, "class:" + ByTarget.class.getName());
        assertPasses("/forward");
        assertDenied("/page?user=ann");
        assertPasses("/async?user=bob");
        assertDenied("/page?user=bob");
        assertPasses("/page?user=carol");
    }

    /** Needs something, so only the application can make it. */
    public record WithSuffix(String suffix) implements KeyResolver<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            return PartitionKey.of(request.getHeader("Tenant") + suffix);
        }
    }

    @ParameterizedTest
    @EachContainer
    void aClassMakesTheKeyAndNoFaultOfItIsFree(Container.Kind container) throws Exception {
        start(container, "class:" + ByTenant.class.getName());
        assertPasses("/page", "Tenant", "a");
        assertDenied("/page", "Tenant", "a", "X", "y");
        assertPasses("/page", "Tenant", "b");
        assertEquals(List.of("RL-317"), FindingsTest.codes(() -> {
            assertPasses("/page", "Tenant", "fault");
            assertDenied("/page", "Tenant", "fault");
            assertDenied("/page", "Tenant", "linkage");
            assertDenied("/page");
        }));
    }

    /** Whether this JVM can go on is unknown; the request does not reach the application. */
    @ParameterizedTest
    @EachContainer
    void aJvmWithoutMemoryAdmitsNothing(Container.Kind container) throws Exception {
        start(container, "class:" + ByTenant.class.getName());
        try {
            assertEquals(500, server.status("/page", "Tenant", "memory"));
        } catch (UncheckedIOException closed) {
            // Tomcat ends the connection of such a thread.
            assertEquals(Container.Kind.TOMCAT, container);
        }
        assertPasses("/page", "Tenant", "a");
    }

    @ParameterizedTest
    @EachContainer
    void aClassThatTheApplicationHasIsNotMadeAgain(Container.Kind container) throws Exception {
        String rules = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = class:"
                + WithSuffix.class.getName();
        RateLimitFilter.Builder builder =
                RateLimitFilter.builder(io.limiter.application.Limiter.start(WebServer.config(rules)));
        String message =
                assertThrows(IllegalArgumentException.class, builder::build).getMessage();
        assertTrue(
                message.startsWith("RL-114 limiter.rules.r.key = " + WithSuffix.class.getName() + ": can't be made ("),
                message);
        builder.instances(type -> type == WithSuffix.class ? new WithSuffix("!") : null);
        server = container.start(directory, List.of(builder.build()), Map.of("/", Answer.text("ok")));
        assertPasses("/page", "Tenant", "a");
        assertDenied("/page", "Tenant", "a");
        assertPasses("/page", "Tenant", "b");
    }

    @ParameterizedTest
    @EachContainer
    void spellingsThatAreFoldedHaveOne(Container.Kind container) throws Exception {
        start(container, "query:a fold + header:B fold");
        assertPasses("/page?a=Ann", "B", "x");
        assertDenied("/page?a=%20ANN.", "B", "X ");
        assertPasses("/page?a=bob", "B", "X");
        // What is left of nothing is missing, as if it were not sent.
        assertPasses("/page?a=%E2%80%8B", "B", "x");
        assertDenied("/page?a=..", "B", "x");
        assertDenied("/page", "B", "x");
    }
}
