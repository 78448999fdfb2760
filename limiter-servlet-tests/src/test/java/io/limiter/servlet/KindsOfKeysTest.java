package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.rule.KeyResolver;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose quota a request uses, over HTTP. Every key has room for one request. */
class KindsOfKeysTest extends Served {
    private final AtomicReference<String> body = new AtomicReference<>();

    private void start(Container.Kind container, String key) {
        start(container, "/page", key);
    }

    private void start(Container.Kind container, String path, String key, String... lines) {
        String rules =
                "limiter.rules.r.path = " + path + "\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = " + key;
        server = container.start(
                directory,
                List.of(WebServer.limiter(limiter, rules + "\n" + String.join("\n", lines))),
                Map.of(
                        "/",
                        Answer.text("ok"),
                        "/session",
                        (request, response) -> response.getWriter().write(String.valueOf(request.getSession(false))),
                        "/login",
                        (request, response) -> request.getSession(true),
                        "/page",
                        (request, response) -> {
                            body.set(request.getParameter("user"));
                            response.getWriter().write("ok");
                        },
                        "/forward",
                        Answer.forward("/page?user=ann"),
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
            HttpResponse<String> sent = server.send(
                    "POST", "/page", "user=" + expected, "Content-Type", "application/x-www-form-urlencoded");
            assertEquals(expected, sent.statusCode());
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

    @ParameterizedTest
    @EachContainer
    void aClassThatTheApplicationHasIsNotMadeAgain(Container.Kind container) throws Exception {
        String rules = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = class:"
                + WithSuffix.class.getName();
        RateLimitFilter.Builder builder = RateLimitFilter.builder(Limiter.of(WebServer.config(rules), limiter));
        String message =
                assertThrows(IllegalArgumentException.class, builder::build).getMessage();
        assertTrue(
                message.startsWith("RL-114 limiter.rules.r.key = " + WithSuffix.class.getName() + ": can't be made ("),
                message);
        builder.instances(type -> type == WithSuffix.class ? new WithSuffix("!") : null);
        server = container.serve(directory, builder.build(), Answer.text("ok"));
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

    @Test
    void aSecondHeaderLineMakesNoQuotaOfItsOwn() {
        start(Container.Kind.TOMCAT, "/*", "header:X-Api-Key");
        assertPasses("/page", "X-Api-Key", "a");
        assertDenied("/page", "X-Api-Key", "a", "X-Api-Key", "a");
        assertPasses("/page", "X-Api-Key", "a", "X-Api-Key", "1");
        assertDenied("/page", "X-Api-Key", "a", "X-Api-Key", "2");
        assertDenied("/page", "X-Api-Key", "3", "X-Api-Key", "a");
        assertDenied("/page");
    }

    @Test
    void aSecondCookieMakesNoQuotaOfItsOwn() {
        start(Container.Kind.TOMCAT, "/*", "cookie:device");
        assertPasses("/page", "Cookie", "device=a");
        assertDenied("/page", "Cookie", "device=a; device=a");
        assertPasses("/page", "Cookie", "device=1; device=a");
        assertDenied("/page", "Cookie", "device=2; device=a");
        assertDenied("/page", "Cookie", "device=a; device=3");
        assertDenied("/page");
    }

    @Test
    void eachSessionHasItsOwnAndNoneIsMade() {
        start(Container.Kind.TOMCAT, "/page", "session");
        String one = Container.cookie(server.get("/login"));
        String other = Container.cookie(server.get("/login"));
        assertPasses("/page", "Cookie", one);
        assertDenied("/page", "Cookie", one);
        assertPasses("/page", "Cookie", other);

        // Without a session, or with one that the server does not know, the key is the address.
        HttpResponse<String> without = server.get("/page");
        assertEquals(200, without.statusCode());
        assertEquals("none", Container.field(without, "Set-Cookie"));
        assertDenied("/page", "Cookie", "JSESSIONID=0123456789ABCDEF0123456789ABCDEF");
        assertEquals("null", server.get("/session").body());
    }

    @Test
    void spacesAtTheEndsOfAPathVariableMakeNoQuotaOfTheirOwn() {
        start(Container.Kind.TOMCAT, "/users/{id}", "path:id");
        assertPasses("/users/ann");
        for (String spelling : List.of("ann%20", "%20ann", "ann%09", "%61nn", "ann;x", "x/../ann")) {
            assertDenied("/users/" + spelling);
        }
        assertPasses("/users/Ann");
        // A value of spaces only counts as missing: the key is the address.
        assertPasses("/users/%20");
        assertDenied("/users/%20%20");
    }

    @Test
    void theAddressThatStandsInIsFoundByTheTrustedHeader() {
        start(
                Container.Kind.TOMCAT,
                "/page",
                "user",
                "limiter.client-ip.trusted-hops = 1",
                "limiter.client-ip.header = Forwarded");
        assertPasses("/page", "Forwarded", "for=192.0.2.1");
        assertDenied("/page", "Forwarded", "for=6.6.6.6, for=\"192.0.2.1:80\"");
        assertPasses("/page", "Forwarded", "for=\"192.0.2.1, for=192.0.2.1");
        assertDenied("/page", "Forwarded", "for=");
        // A user called like the mark of a malformed header does not use its quota.
        assertPasses("/page", "Forwarded", "for=", "Test-User", "!127.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({
        "ip, '', 2001:db8:1:1ff::1, 2001:db8:1:201::1",
        "ip, limiter.rules.r.ipv6-prefix = 48, 2001:db8:1:ffff::1, 2001:db8:2::1",
        "session, limiter.rules.r.ipv6-prefix = 128, 2001:db8:1:101::1, 2001:db8:1:101::2"
    })
    void anIpv6PrefixForAllAndForARule(String key, String ofTheRule, String same, String other) {
        start(Container.Kind.TOMCAT, "/page", key, "limiter.client-ip.ipv6-prefix = 56", ofTheRule);
        assertPasses("/page", "Test-Address", "2001:db8:1:101::1");
        assertDenied("/page", "Test-Address", same);
        assertPasses("/page", "Test-Address", other);
    }
}
