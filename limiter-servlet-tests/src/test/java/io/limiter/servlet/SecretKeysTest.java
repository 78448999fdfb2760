package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.engine.RateLimiters;
import io.limiter.kit.Heard;
import io.limiter.servlet.WebServer.Answer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;

/** What a client sends as a credential leaves the filter as a hash, whatever the backend. */
class SecretKeysTest extends Served {
    private static final String CLEAR = "cl34r-t3xt";

    private List<String> keys(Container.Kind container, String secret) throws Exception {
        String rules = """
                limiter.rules.bearer.path = /*
                limiter.rules.bearer.limits = 1/1h
                limiter.rules.bearer.key = bearer
                limiter.rules.header.path = /*
                limiter.rules.header.limits = 9/1h
                limiter.rules.header.key = header:X-Anything
                limiter.rules.cookie.path = /*
                limiter.rules.cookie.limits = 9/1h
                limiter.rules.cookie.key = cookie:c
                limiter.rules.query.path = /*
                limiter.rules.query.limits = 9/1h
                limiter.rules.query.key = query:q
                limiter.rules.session.path = /*
                limiter.rules.session.limits = 9/1h
                limiter.rules.session.key = session
                limiter.rules.member.path = /*
                limiter.rules.member.limits = 9/1h distinct
                limiter.rules.member.member = query:q
                """ + (secret == null ? "" : "limiter.redis.key-secret = " + secret);
        List<String> seen = new CopyOnWriteArrayList<>();
        Heard heard = new Heard(charges -> charges.forEach(one -> {
            seen.add(one.key().canonical());
            seen.add(one.memberText());
        }));
        String[] headers = {"Authorization", "Bearer " + CLEAR, "X-Anything", CLEAR, "Cookie", "c=" + CLEAR};
        try (Container site = container.start(
                directory,
                List.of(WebServer.limiter(RateLimiters.on(heard), rules)),
                Map.of("/", Answer.text("ok"), "/login", (request, response) -> request.getSession(true)))) {
            String cookie = Container.cookie(site.get("/login?q=" + CLEAR, headers));
            seen.clear();
            headers[5] += "; " + cookie;
            assertEquals(429, site.status("/?q=" + CLEAR, headers));
            String session = cookie.substring(cookie.indexOf('=') + 1).split("\\.", -1)[0];
            assertTrue(seen.stream().noneMatch(key -> key.contains(CLEAR) || key.contains(session)));
        }
        return seen;
    }

    @ParameterizedTest
    @EachContainer
    void everyCredentialIsHashed(Container.Kind container) throws Exception {
        List<String> plain = keys(container, null);
        assertEquals(2 * 6, plain.size());
        assertTrue(plain.get(11).matches("query[.]q=~[0-9a-f]{32}"), plain::toString);
        for (String kind : List.of("bearer", "header.x-anything", "cookie.c", "query.q", "session")) {
            assertTrue(plain.stream().anyMatch(key -> key.matches(kind + "=~[0-9a-f]{32}")), kind + " " + plain);
        }
        // printf cl34r-t3xt | sha256sum, and | openssl dgst -sha256 -hmac 0123456789abcdef: equal in all instances.
        assertEquals("bearer=~e70bdc14c94f00b4a9f44fd91da995d8", plain.get(0));
        String secret = "0123456789abcdef";
        assertEquals(
                "bearer=~947f1cb2b653be9f24d769ae1add3805",
                keys(container, secret).get(0));
        assertNotEquals(plain.get(0), keys(container, secret + "g").get(0));
    }
}
