package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.http.internal.match.RawPaths;
import io.limiter.http.internal.match.RequestPaths;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests that nobody writes by hand: no exception leaves the filter, and a denied request is answered whole. Seeded; a failure names the case.
 */
class FuzzTest {
    private static final int SOME = 4_000;
    private static final int MANY = 1_000_000;

    /** Words and characters that mean something to a parser, between bars. */
    private static final String WORDS = """
            /|//|/./|/../|..|..;|;|;a=b|%|%2|%2F|%2f|%5C|%2e%2E|%00|%E2%82|%ff|%C0%AF|%25|%252F|\\|?|#|&|=|+|,|, |"|\\"
            |*/*|text/html|text/plain|application/json|application/*|;q=|;q=0.|;q=1|;q=0.5|q|1|0|.|-1|1e9|_method|%5Fmethod
            |_method=DELETE&|DELETE|POST|GET|HEAD|{|}|{id}|:|~|*|@|x""";

    /** Characters that mean nothing to anybody. */
    private static final String CHARACTERS =
            "\u0000\u0001\r\n\t \u007f\u0085\u00a0\u00e9\u65e5\ud83d\ud800\udc00\uffff\ufeff\u202e\u0130\u00df\u212a";

    private static final List<String> PIECES = Stream.concat(
                    Stream.of(WORDS.replace("\n", "").split("\\|")),
                    Stream.concat(CHARACTERS.chars().mapToObj(Character::toString), Stream.of("\r\n", "\ud83d\udc4d")))
            .toList();

    private final SplittableRandom random = new SplittableRandom(20_261_121);

    @Test
    void some() throws Exception {
        headers(SOME);
        paths(SOME);
    }

    @Test
    @Tag("soak")
    void aMillion() throws Exception {
        headers(MANY);
        paths(MANY);
    }

    private void headers(int cases) throws Exception {
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), """
                limiter.rules.a.path = /*
                limiter.rules.a.limits = 0/1h fixed
                limiter.rules.b.path = /*
                limiter.rules.b.methods = DELETE, OPTIONS
                limiter.rules.b.limits = 0/1h fixed
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

    private void paths(int cases) throws Exception {
        RateLimitFilter filter = WebServer.limiter(new ManualTime(), """
                limiter.rules.a.path = /*
                limiter.rules.a.limits = 0/1h fixed
                limiter.rules.b.path = /{x}/*, /x, /x/{y}/x
                limiter.rules.b.key = ip
                limiter.rules.b.limits = 0/1h fixed
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

    private static void answered(RateLimitFilter filter, FakeExchange exchange, int number) {
        try {
            exchange.through(filter);
        } catch (Exception | StackOverflowError e) {
            throw new AssertionError("case " + number + ": " + shown(exchange.method + exchange.requestUri), e);
        }
        assertEquals(exchange.passed ? 200 : 429, exchange.status);
        if (!exchange.passed && !exchange.method.equals("HEAD")) {
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
}
