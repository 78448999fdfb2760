package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.servlet.WebServer.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose quota a request uses, over HTTP. Every key here has room for one request. */
class HttpKeyTest {
    @TempDir
    Path directory;

    private WebServer server;

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(String key) {
        start("/*", key);
    }

    private void start(String path, String key) {
        String rules =
                "limiter.rules.r.path = " + path + "\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = " + key;
        server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(new ManualTime(), rules))
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
        server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(new ManualTime(), """
                                limiter.policies.p.limits = 1/1h
                                limiter.rules.a.path = /a
                                limiter.rules.a.policy = p
                                limiter.rules.a.key = header:X-Key
                                limiter.rules.b.path = /b
                                limiter.rules.b.policy = p
                                limiter.rules.b.key = header:x-key
                                """))
                .servlet("/", Answer.text("ok"))
                .start();
        assertEquals(200, server.get("/a", "X-Key", "k").statusCode());
        assertEquals(429, server.get("/b", "X-Key", "k").statusCode());
    }

    private static String cookie(HttpResponse<String> response) {
        return response.headers().firstValue("Set-Cookie").orElseThrow().split(";", -1)[0];
    }
}
