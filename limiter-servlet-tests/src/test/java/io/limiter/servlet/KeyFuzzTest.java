package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Heard;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayOutputStream;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests made of odd text, through the filter: none of them makes an exception, and each key identifies exactly its
 * client. It
 * is read back here, by hand, to the text that it was made of; so two different callers never have one.
 */
class KeyFuzzTest {
    private static final int SOME = 5_000;
    private static final int MANY = 1_000_000;
    private static final int LONGEST_PART = 64;
    private static final String ODD =
            "\u0000\r\n\t {}%:~*@!;/\\\"'|[]+?=&#\u007f\u0080\u00e9\u00ff\u07ff\u0800\u2028\ufffd\uffff"
                    + "\ud83d\udc4d\ud800\udc00\udfff\u0130\u0661abAB019._-";
    private static final List<String> KINDS = List.of("user", "session", "header.h", "cookie.c", "path.id");
    private static final String RULE = """
            limiter.client-ip.trusted-proxies = 10.0.0.0/8
            limiter.rules.r.path = /users/{id}/*
            limiter.rules.r.limits = 1000000/1h fixed
            limiter.rules.r.key = ip + user + session + header:H + cookie:c + path:id
            """;

    private PartitionKey key = PartitionKey.global();
    private final RateLimitFilter filter = WebServer.limiter(
            RateLimiters.on(new Heard(charges -> {
                assertEquals(1, charges.size());
                key = charges.get(0).key();
            })),
            RULE);
    private final Random random = new Random(20_261_121);
    private final Map<String, String> digested = new HashMap<>();

    /** The caller data of a request; null if it is missing. The id is never empty in a path: i is before it. */
    private record Caller(String peer, String user, String session, String header, String cookie, String id) {}

    @Test
    void some() throws Exception {
        run(SOME);
    }

    @Test
    @Tag("soak")
    void aMillion() throws Exception {
        run(MANY);
        System.out.printf("%d cases of keys, %d parts were digested%n", MANY, digested.size());
    }

    private void run(int cases) throws Exception {
        AtomicInteger passed = new AtomicInteger();
        FilterChain chain = (request, response) -> passed.incrementAndGet();
        for (int i = 0; i < cases; i++) {
            Caller caller = new Caller(peer(), said(), said(), said(), said(), odd().replace("/", ""));
            FakeExchange exchange = exchange(caller);
            boolean isBare = caller.user() == null && caller.header() == null;
            filter.doFilter(isBare ? new Bare(exchange.request()) : exchange.request(), exchange.response(), chain);
            check(caller, key.canonical());
        }
        assertEquals(cases, passed.get());
    }

    /** Of a container that shows no header, and of a login without a name. */
    private static final class Bare extends HttpServletRequestWrapper {
        Bare(HttpServletRequest request) {
            super(request);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return null;
        }

        @Override
        public Principal getUserPrincipal() {
            return () -> null;
        }
    }

    private void check(Caller caller, String key) {
        assertTrue(key.matches("[A-Za-z0-9._%:~@=-]+"), key);
        String[] parts = key.split(":", -1);
        assertEquals(6, parts.length, key);
        String peer = String.valueOf(caller.peer());
        String address = peer.matches("192\\.0\\.2\\.[0-9]+") ? peer : peer.startsWith("?") ? "!unknown" : "unknown";
        assertPart(address, parts[0]);
        List<String> said = new ArrayList<>();
        Collections.addAll(said, caller.user(), caller.session(), caller.header(), caller.cookie());
        // Spaces at the ends of a segment are nothing.
        said.add(("i" + caller.id()).trim());
        for (int i = 0; i < said.size(); i++) {
            String text = said.get(i);
            boolean missing = text == null || text.isEmpty();
            String part = parts[i + 1];
            String mark = missing ? "@" : KINDS.get(i) + "=";
            assertTrue(part.startsWith(mark), key);
            assertPart(missing ? address : text, part.substring(mark.length()));
            // Only a user and a path are no secrets of the client's.
            assertTrue(missing || i == 0 || i == 4 || part.startsWith(mark + "~"), key);
        }
    }

    private void assertPart(String expected, String part) {
        if (part.startsWith("~")) {
            assertTrue(part.matches("~[0-9a-f]{32}"), part);
            String known = digested.putIfAbsent(part, expected);
            assertTrue(known == null || known.equals(expected), "two texts have the digest " + part);
        } else {
            assertTrue(part.length() <= LONGEST_PART, part);
            assertEquals(expected, decoded(part));
        }
    }

    /** Percent signs to bytes, bytes to code points; lone surrogates as the three bytes they would have. */
    private static String decoded(String part) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < part.length(); i++) {
            boolean percent = part.charAt(i) == '%';
            bytes.write(percent ? Integer.parseInt(part.substring(i + 1, i + 3), 16) : part.charAt(i));
            i += percent ? 2 : 0;
        }
        byte[] all = bytes.toByteArray();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < all.length; ) {
            int lead = all[i++] & 255;
            int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
            int point = more == 0 ? lead : lead & (0x3F >> more);
            for (int j = 0; j < more; j++) {
                point = point << 6 | (all[i++] & 0x3F);
            }
            text.appendCodePoint(point);
        }
        return text.toString();
    }

    private String peer() {
        return random.nextInt(3) > 0 ? "192.0.2." + random.nextInt(256) : random.nextInt(10) == 0 ? null : "?" + odd();
    }

    private String said() {
        return random.nextInt(5) == 0 ? null : odd();
    }

    private String odd() {
        int length = random.nextInt(3_000) == 0 ? 70_000 : random.nextInt(random.nextInt(10) == 0 ? 200 : 20);
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append(ODD.charAt(random.nextInt(ODD.length())));
        }
        return text.toString();
    }

    private static FakeExchange exchange(Caller caller) {
        FakeExchange exchange = FakeExchange.at("/users/i" + caller.id() + "/x");
        exchange.address = caller.peer();
        exchange.user = caller.user();
        exchange.session = caller.session();
        if (caller.header() != null) {
            exchange.header("H", caller.header());
        }
        if (caller.cookie() != null) {
            exchange.cookies = new Cookie[] {new Cookie("c", caller.cookie()), new Cookie("d", null)};
        }
        return exchange;
    }
}
