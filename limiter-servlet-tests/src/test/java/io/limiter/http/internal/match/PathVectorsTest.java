package io.limiter.http.internal.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Backends;
import io.limiter.kit.door.Client;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.VectorFile;
import io.limiter.servlet.WebServer;
import io.limiter.servlet.WebServer.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The vectors of paths, and ways around rules that other products had, sent as they are over a socket. */
class PathVectorsTest {
    private static final Pattern LINE =
            Pattern.compile("(?<sent>\\S+) +-> (?<path>\\S+)(?<refused> +refused)?( +below (?<folder>\\S+))?");

    /** One server for all rows: each has its own rule, which replaces the one before. */
    private static final Limiter LIMITER = Limiter.of(rule("/"), Backends.limiter(false));

    private static WebServer server;

    @BeforeAll
    static void start(@TempDir Path directory) {
        server = new WebServer(directory)
                .filter("limiter", new RateLimitFilter(LIMITER))
                .servlet("/*", Answer.text("served"))
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static LimiterConfig rule(String path) {
        return WebServer.config("limiter.rules.r.path = " + path + "\nlimiter.rules.r.limits = 0/1h");
    }

    /**
     * A line of the file.
     *
     * @param folder below which it lies to who leaves its dots in; null where that is nothing else
     */
    record Vector(String sent, String path, boolean refused, String folder) {}

    static Stream<Vector> vectors() throws IOException {
        return VectorFile.lines("/vectors/paths.txt").stream().map(line -> {
            Matcher parts = LINE.matcher(line);
            assertTrue(parts.matches(), line);
            return new Vector(
                    parts.group("sent"), parts.group("path"), parts.group("refused") != null, parts.group("folder"));
        });
    }

    static Stream<List<String>> advisories() throws IOException {
        return VectorFile.lines("/vectors/advisories.txt").stream().map(line -> List.of(line.split(" +", 3)));
    }

    @Test
    void allAreHere() throws IOException {
        assertEquals(19, vectors().count());
        assertEquals(9, vectors().filter(Vector::refused).count());
        assertEquals(30, advisories().count());
        assertEquals(6, vectors().filter(vector -> vector.folder() != null).count());
        assertEquals(8, advisories().map(row -> row.get(0)).distinct().count());
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void means(Vector vector) {
        assertEquals(vector.path(), RequestPaths.whole(vector.sent(), PercentText::decoded, false));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void isDeniedByTheRuleOfItsPathOrRefused(Vector vector) throws Exception {
        // A percent sign can't be in a rule, so a variable replaces that segment.
        String rule =
                vector.path().contains("%") || vector.path().contains("\uFFFD") ? "/foo/{x}, /{x}" : vector.path();
        int status = status(rule, vector.sent());
        // Tomcat resolves some of what the specification would rather have refused.
        assertTrue(status == 429 || (status == 400 && vector.refused()), vector + " -> " + status);
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void isDeniedByTheRuleOfTheFolderWhoseDotsWereLeftIn(Vector vector) throws Exception {
        if (vector.folder() != null) {
            int status = status(vector.folder() + "/*", vector.sent());
            assertTrue(status == 429 || (status == 400 && vector.refused()), vector + " -> " + status);
        }
    }

    @ParameterizedTest
    @MethodSource("advisories")
    void isNoWayAround(List<String> row) throws Exception {
        int status = status(row.get(1), row.get(2));
        assertTrue(status == 429 || status == 400, row + " -> " + status);
    }

    private static int status(String rule, String target) {
        LIMITER.replace(rule(rule));
        return Client.send(server.port(), "GET", target, "X-Real-IP: 192.0.2.7")
                .response()
                .status();
    }

    /** What is left when a container lets in what it should refuse: the two readings, with their dots or without. */
    @ParameterizedTest
    @CsvSource(textBlock = """
                    false, /files/a%2Fb,         /files/a/b,    /files/a%2Fb
                    false, /files/a%2fb;x/..,    /files/a/,     /files/
                    false, /files/a%5Cb,         /files/a/b,    /files/a%5Cb
                    false, /x/..%2Ffiles,        /files,        /x/..%2Ffiles
                    false, /x/..%5c..%5cfiles,   /files,        /x/..%5C..%5Cfiles
                    false, /%2e%2e/%2E%2E/files, /files,        /files
                    false, /a;b=/../c;d/e,       /c/e,          /c/e
                    false, /%,                   /%,            /%
                    false, /%4,                  /%4,           /%4
                    false, /%zz%,                /%zz%,         /%zz%
                    false, /%C3%A9t%c3%a9,       /été,          /été
                    false, '',                   /,             /
                    false, *,                    /*,            /*
                    false, /..,                  /,             /
                    false, /a/..,                /,             /
                    false, /a/b/..,              /a/,           /a/
                    false, /a/.,                 /a/,           /a/
                    true,  /api/../foo,          /api/../foo,       /api/../foo
                    true,  //api;x/..;y//foo/,   /api/../foo/,      /api/../foo/
                    true,  /api/%2e%2E/%66oo,    /api/../foo,       /api/../foo
                    true,  /api/.%2F..\\foo,     /api/./../foo,     /api/.%2F..%5Cfoo
                    true,  /api/..,              /api/..,           /api/..
                    true,  /..,                  /..,               /..
                    true,  /.;a=b,               /.,                /.
                    true,  /api/..a,             /api/..a,          /api/..a
                    true,  '',                   /,                 /
                    """)
    void hasTwoReadings(boolean withDots, String sent, String whole, String bySegment) {
        assertEquals(whole, RequestPaths.whole(sent, PercentText::decoded, withDots));
        assertEquals(bySegment, RequestPaths.bySegment(sent, PercentText::decoded, withDots));
    }

    /** A million characters, far more than a container lets in: milliseconds, while their square would be minutes. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/;", "/a", "%2F", "/.."})
    void aLongPathIsReadInTimeThatGrowsAsItDoes(String unit) {
        String raw = "/" + unit.repeat(1_000_000 / unit.length());
        assertTimeout(Duration.ofSeconds(60), () -> {
            RequestPaths.whole(raw, PercentText::decoded, false);
            RequestPaths.bySegment(raw, PercentText::decoded, false);
            RequestPaths.whole(raw, PercentText::decoded, true);
            RequestPaths.bySegment(raw, PercentText::decoded, true);
        });
    }
}
