package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.servlet.WebServer.Answer;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose quota a request uses, over HTTP. Every key here has room for one request. */
class HttpKeyTest extends Served {
    private void start(String key) {
        start("/*", key);
    }

    private void start(String path, String key, String... lines) {
        String rules =
                "limiter.rules.r.path = " + path + "\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = " + key;
        server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, rules + "\n" + String.join("\n", lines)))
                .servlet("/", Answer.text("ok"))
                .servlet(
                        "/session",
                        (request, response) -> response.getWriter().write(String.valueOf(request.getSession(false))))
                .servlet("/login", (request, response) -> request.getSession(true))
                .start();
    }

    private void assertPasses(String... headers) {
        assertEquals(200, server.get("/page", headers).statusCode());
    }

    private void assertDenied(String... headers) {
        assertEquals(429, server.get("/page", headers).statusCode());
    }

    @Test
    void aSecondHeaderLineMakesNoQuotaOfItsOwn() {
        start("header:X-Api-Key");
        assertPasses("X-Api-Key", "a");
        assertDenied("X-Api-Key", "a", "X-Api-Key", "a");
        assertPasses("X-Api-Key", "a", "X-Api-Key", "1");
        assertDenied("X-Api-Key", "a", "X-Api-Key", "2");
        assertDenied("X-Api-Key", "3", "X-Api-Key", "a");
        assertDenied();
    }

    @Test
    void aSecondCookieMakesNoQuotaOfItsOwn() {
        start("cookie:device");
        assertPasses("Cookie", "device=a");
        assertDenied("Cookie", "device=a; device=a");
        assertPasses("Cookie", "device=1; device=a");
        assertDenied("Cookie", "device=2; device=a");
        assertDenied("Cookie", "device=a; device=3");
        assertDenied();
    }

    @Test
    void eachSessionHasItsOwnAndNoneIsMade() {
        start("/page", "session");
        String one = cookie(server.get("/login"));
        String other = cookie(server.get("/login"));
        assertPasses("Cookie", one);
        assertDenied("Cookie", one);
        assertPasses("Cookie", other);

        // Without a session, or with one that the server does not know, the address stands in.
        HttpResponse<String> without = server.get("/page");
        assertEquals(200, without.statusCode());
        assertTrue(without.headers().firstValue("Set-Cookie").isEmpty());
        assertDenied("Cookie", "JSESSIONID=0123456789ABCDEF0123456789ABCDEF");
        assertEquals("null", server.get("/session").body());
    }

    @Test
    void spacesAtTheEndsOfAPathVariableMakeNoQuotaOfTheirOwn() {
        start("/users/{id}", "path:id");
        assertEquals(200, server.get("/users/ann").statusCode());
        for (String spelling : List.of("ann%20", "%20ann", "ann%09", "%61nn", "ann;x", "x/../ann")) {
            assertEquals(429, server.get("/users/" + spelling).statusCode(), spelling);
        }
        assertEquals(200, server.get("/users/Ann").statusCode());
        // Nothing else but spaces is nothing: the address stands in.
        assertEquals(200, server.get("/users/%20").statusCode());
        assertEquals(429, server.get("/users/%20%20").statusCode());
    }

    @Test
    void oneHeaderInTwoSpellingsIsOneCaller() {
        start(
                "/other",
                "user",
                "limiter.policies.p.limits = 1/1h",
                "limiter.rules.a.path = /a",
                "limiter.rules.a.policy = p",
                "limiter.rules.a.key = header:X-Key",
                "limiter.rules.b.path = /b",
                "limiter.rules.b.policy = p",
                "limiter.rules.b.key = header:x-key");
        assertEquals(200, server.status("/a", "X-Key", "k"));
        assertEquals(429, server.status("/b", "X-Key", "k"));
    }

    @Test
    void theAddressThatStandsInIsFoundByTheTrustedHeader() {
        start("/page", "user", "limiter.client-ip.trusted-hops = 1", "limiter.client-ip.header = Forwarded");
        assertPasses("Forwarded", "for=192.0.2.1");
        assertDenied("Forwarded", "for=6.6.6.6, for=\"192.0.2.1:80\"");
        assertPasses("Forwarded", "for=\"192.0.2.1, for=192.0.2.1");
        assertDenied("Forwarded", "for=");
        // A user called like the mark of a malformed header does not use its quota.
        assertPasses("Forwarded", "for=", "Test-User", "!127.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({
        "ip, '', 2001:db8:1:1ff::1, 2001:db8:1:201::1",
        "ip, limiter.rules.r.ipv6-prefix = 48, 2001:db8:1:ffff::1, 2001:db8:2::1",
        "session, limiter.rules.r.ipv6-prefix = 128, 2001:db8:1:101::1, 2001:db8:1:101::2"
    })
    void anIpv6PrefixForAllAndForARule(String key, String ofTheRule, String same, String other) {
        start("/page", key, "limiter.client-ip.ipv6-prefix = 56", ofTheRule);
        assertPasses("Test-Address", "2001:db8:1:101::1");
        assertDenied("Test-Address", same);
        assertPasses("Test-Address", other);
    }

    private static String cookie(HttpResponse<String> response) {
        return response.headers().firstValue("Set-Cookie").orElseThrow().split(";", -1)[0];
    }
}
