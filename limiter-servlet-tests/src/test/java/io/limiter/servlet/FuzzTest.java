package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.engine.RateLimiters;
import io.limiter.http.internal.match.RawPaths;
import io.limiter.http.internal.match.RequestPaths;
import jakarta.servlet.http.Cookie;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests that nobody writes by hand: no exception leaves the filter, a denied request is answered whole, and different
 * callers have different keys. Seeded; a failure names the case.
 */
class FuzzTest {
    private static final int SOME = 4_000;
    private static final int MANY = 1_000_000;

    /** Words and characters that mean something to a parser, and some that mean nothing to anybody. */
    private static final List<String> PIECES = List.of(
            "/",
            "//",
            "/./",
            "/../",
            "..",
            "..;",
            ";",
            ";a=b",
            "%",
            "%2",
            "%2F",
            "%2f",
            "%5C",
            "%2e%2E",
            "%00",
            "%E2%82",
            "%ff",
            "%C0%AF",
            "%25",
            "%252F",
            "\\",
            "?",
            "#",
            "&",
            "=",
            "+",
            ",",
            ", ",
            "\"",
            "\\\"",
            "*/*",
            "text/html",
            "text/plain",
            "application/json",
            "application/*",
            ";q=",
            ";q=0.",
            ";q=1",
            ";q=0.5",
            "q",
            "1",
            "0",
            ".",
            "-1",
            "1e9",
            "_method",
            "%5Fmethod",
            "_method=DELETE&",
            "DELETE",
            "POST",
            "GET",
            "HEAD",
            "{",
            "}",
            "{id}",
            ":",
            "~",
            "*",
            "@",
            "\u0000",
            "\u0001",
            "\r\n",
            "\t",
            " ",
            "\u007f",
            "\u0085",
            "\u00a0",
            "é",
            "日本",
            "\ud83d\udc4d",
            "\ud800",
            "\udc00",
            "\ud83d",
            "\uffff",
            "\ufeff",
            "\u202e",
            "İ",
            "ß",
            "K",
            "x");

    private final SplittableRandom random = new SplittableRandom(20_261_121);

    @Test
    void someHeaders() throws Exception {
        headers(SOME);
    }

    @Test
    @Tag("soak")
    void aMillionHeaders() throws Exception {
        headers(MANY);
    }

    private void headers(int cases) throws Exception {
        RateLimitFilter filter = filter("""
                limiter.rules.a.path = /*
                limiter.rules.a.limits = 1/1h
                limiter.rules.b.path = /*
                limiter.rules.b.methods = DELETE, OPTIONS
                limiter.rules.b.limits = 1/1h
                """);
        Set<String> types = new HashSet<>();
        for (int i = 0; i < cases; i++) {
            FakeExchange exchange = new FakeExchange();
            exchange.method = random.nextInt(3) == 0 ? text() : random.nextBoolean() ? "POST" : "OPTIONS";
            exchange.query = random.nextInt(3) == 0 ? null : text();
            exchange.contentType = random.nextInt(3) == 0 ? null : text();
            for (String name : List.of(
                    "Accept",
                    "X-HTTP-Method-Override",
                    "X-HTTP-Method",
                    "X-Method-Override",
                    "Origin",
                    "Access-Control-Request-Method")) {
                for (int lines = random.nextInt(4); lines > 0; lines--) {
                    exchange.header(name, text());
                }
            }
            answered(filter, exchange, i);
            types.addAll(exchange.all("Content-Type"));
        }
        assertEquals(3, types.size(), types.toString());
    }

    @Test
    void somePaths() throws Exception {
        paths(SOME);
    }

    @Test
    @Tag("soak")
    void aMillionPaths() throws Exception {
        paths(MANY);
    }

    private void paths(int cases) throws Exception {
        RateLimitFilter filter = filter("""
                limiter.rules.a.path = /*
                limiter.rules.a.limits = 1/1h
                limiter.rules.b.path = /{x}/*, /x, /x/{y}/x
                limiter.rules.b.key = ip
                limiter.rules.b.limits = 1/1h
                """);
        int several = 0;
        for (int i = 0; i < cases; i++) {
            FakeExchange exchange = new FakeExchange();
            exchange.requestUri = text();
            exchange.path = random.nextInt(3) == 0 ? exchange.requestUri : text();
            List<String> readings = RequestPaths.of(exchange.adapted());
            several += readings.size() > 1 ? 1 : 0;
            for (String reading : readings.subList(1, readings.size())) {
                assertTrue(reading.startsWith("/"), () -> "a path without a slash: " + shown(reading));
                assertTrue(!reading.contains("//"), () -> "an empty segment: " + shown(reading));
            }
            for (String path : List.of(RawPaths.whole(exchange.requestUri), RawPaths.bySegment(exchange.requestUri))) {
                assertTrue(!(path + "/").contains("/../"), () -> "dots: " + shown(path));
                assertTrue(readings.size() == 1 || readings.contains(path), () -> "no reading: " + shown(path));
            }
            answered(filter, exchange, i);
        }
        assertTrue(several > cases / 3, several + " requests have more than one reading");
    }

    @Test
    void someKeys() throws Exception {
        keys(SOME);
    }

    @Test
    @Tag("soak")
    void aMillionKeys() throws Exception {
        keys(MANY);
    }

    private void keys(int cases) throws Exception {
        Recording backend = new Recording();
        RateLimitFilter filter = WebServer.limiter(RateLimiters.on(backend), """
                limiter.rules.r.path = /users/{id}/*
                limiter.rules.r.key = header:H + cookie:c + path:id
                limiter.rules.r.limits = 1/1h
                """);
        int different = 0;
        for (int i = 0; i < cases; i++) {
            List<String> one = List.of(text(), text(), text().replace("/", ""));
            List<String> other = another(one);
            PartitionKey first = keyOf(filter, backend, one, i);
            PartitionKey second = keyOf(filter, backend, other, i);
            // Spaces at the end of a segment are nothing, to a rule and to a key.
            if (one.subList(0, 2).equals(other.subList(0, 2))
                    && ("i" + one.get(2)).trim().equals(("i" + other.get(2)).trim())) {
                assertEquals(first, second);
            } else {
                int number = i;
                assertNotEquals(first, second, () -> "case " + number + ": one key for two callers");
                different++;
            }
        }
        assertTrue(different > cases / 2, different + " pairs differ");
    }

    /** The same values, or with a piece put into one of them, or with a piece moved from one to the next. */
    private List<String> another(List<String> values) {
        String[] other = values.toArray(String[]::new);
        int at = random.nextInt(2);
        switch (random.nextInt(4)) {
            case 0 -> {
                int cut = random.nextInt(other[at].length() + 1);
                other[at + 1] = (other[at].substring(cut) + other[at + 1]).replace("/", "");
                other[at] = other[at].substring(0, cut);
            }
            case 1 -> other[at] = other[at] + piece();
            case 2 -> other[at] = piece() + other[at];
            default -> {
                // The same caller again.
            }
        }
        return List.of(other[0], other[1], other[2]);
    }

    private static PartitionKey keyOf(RateLimitFilter filter, Recording backend, List<String> values, int number)
            throws Exception {
        FakeExchange exchange = new FakeExchange();
        // A missing part is replaced, which another test covers.
        exchange.header("H", "h" + values.get(0));
        exchange.cookies = new Cookie[] {new Cookie("c", "c" + values.get(1))};
        exchange.path = "/users/i" + values.get(2) + "/x";
        exchange.requestUri = exchange.path;
        backend.last = null;
        answered(filter, exchange, number);
        return backend.last.key();
    }

    private static void answered(RateLimitFilter filter, FakeExchange exchange, int number) {
        boolean[] passed = new boolean[1];
        try {
            filter.doFilter(exchange.request(), exchange.response(), (in, out) -> passed[0] = true);
        } catch (Exception | StackOverflowError e) {
            throw new AssertionError("case " + number + ": " + shown(exchange.method + exchange.requestUri), e);
        }
        assertEquals(passed[0] ? 200 : 429, exchange.status);
        if (!passed[0] && !exchange.method.equals("HEAD")) {
            assertEquals(
                    exchange.all("Content-Length"),
                    List.of(Integer.toString(exchange.body().length())));
        }
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        if (random.nextInt(2_000) == 0) {
            while (text.length() < 70_000) {
                text.append(piece());
            }
            return text.toString();
        }
        for (int pieces = random.nextInt(12); pieces > 0; pieces--) {
            text.append(piece());
        }
        return text.toString();
    }

    private String piece() {
        return random.nextInt(10) == 0
                ? String.valueOf((char) random.nextInt(0x1_0000))
                : PIECES.get(random.nextInt(PIECES.size()));
    }

    private static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        text.chars().limit(200).forEach(c -> shown.append(c > ' ' && c < 127 ? (char) c : '?'));
        return shown.toString();
    }

    private static RateLimitFilter filter(String rules) {
        return WebServer.limiter(RateLimiters.on(new Recording()), rules);
    }

    /** Denies, and remembers whom. */
    private static final class Recording implements Backend {
        private Charge last;

        @Override
        public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
            last = charges.get(0);
            List<LimitOutcome> outcomes = charges.stream()
                    .map(charge ->
                            LimitOutcome.of(charge, charge.policy().limits().get(0), false, 0, 1, 1, 1, 0))
                    .toList();
            return CompletableFuture.completedFuture(Decision.of(Decision.Source.IN_PROCESS, charges, outcomes));
        }
    }
}
