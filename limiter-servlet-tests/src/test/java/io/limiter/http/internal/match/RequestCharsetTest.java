package io.limiter.http.internal.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.servlet.FakeExchange;
import io.limiter.servlet.WebServer;
import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.net.URLDecoder;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths and queries that an application decodes by the charset that the client names. */
class RequestCharsetTest {
    private static final String CLOSED = "limiter.rules.r.path = /vote\nlimiter.rules.r.limits = 0/1h\n";

    @TempDir
    Path directory;

    /** A front servlet that finds its page by the path, as Spring's UrlPathHelper of versions 5 to 6.1 decodes it. */
    private static String inOnePiece(HttpServletRequest request) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        String uri = request.getRequestURI().replaceAll(";[^/]*", "");
        for (int i = 0; i < uri.length(); i++) {
            boolean encoded = uri.charAt(i) == '%';
            octets.write(encoded ? Integer.parseInt(uri.substring(i + 1, i + 3), 16) : uri.charAt(i));
            i += encoded ? 2 : 0;
        }
        return octets.toString(charset(request)).replaceAll("/+", "/");
    }

    /** The same in later versions, where each run of encoded octets is decoded by itself. */
    private static String byRuns(HttpServletRequest request) {
        return URLDecoder.decode(request.getRequestURI().replaceAll(";[^/]*", ""), charset(request))
                .replaceAll("/+", "/");
    }

    private static Charset charset(HttpServletRequest request) {
        String name = request.getCharacterEncoding();
        return name == null ? StandardCharsets.ISO_8859_1 : Charset.forName(name);
    }

    private WebServer server(String rules) {
        return new WebServer(directory)
                .filter("limiter", WebServer.limiter(new ManualTime(), rules))
                .servlet(
                        "/*",
                        (request, response) -> response.getWriter().write(inOnePiece(request) + " " + byRuns(request)))
                .start();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    ISO-2022-JP,      /%1B%28%42vote
                    iso-2022-jp,      /v%1B%28%42ote
                    ISO-2022-JP,      /%1B(Bvote
                    ISO-2022-JP,      //%1B(Bvote;a=b
                    ISO-2022-JP,      /%1B(J%1B(Bvote/
                    ISO-2022-KR,      /v%0Fote
                    x-JISAutoDetect,  /%1B(Bvote
                    """)
    void aPathThatMeansTheRulesPathByItsCharsetCounts(String charset, String path) throws Exception {
        try (WebServer server = server(CLOSED.replace("/vote", "/nothing"))) {
            String[] routed = server.get(path, "Content-Type", "text/plain;charset=" + charset)
                    .body()
                    .split(" ", -1);
            assertTrue(List.of(routed).stream().anyMatch(text -> text.startsWith("/vote")), String.join(" ", routed));
        }
        try (WebServer server = server(CLOSED)) {
            assertEquals(429, server.status(path, "Content-Type", "text/plain;charset=" + charset));
            assertEquals(200, server.status(path), "without the charset it is another path");
        }
    }

    /** Nothing can be meant by these. */
    @ParameterizedTest
    @ValueSource(strings = {"nobody-has-this", "\"", "%", "utf-8\"x", "ISO-2022-JP;charset=UTF-8", "utf8"})
    void aCharsetThatIsNotThereIsNoError(String charset) throws Exception {
        assertEquals(429, status(exchange("/%76ote", "/vote", charset), CLOSED));
        assertEquals(200, status(exchange("/%77ote", "/wote", charset), CLOSED));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    UTF-8        | /%76ote         | /vote
                    ISO-2022-JP  | /vote           | /vote
                    ISO-2022-JP  | /%76ote         | /vote
                    ISO-2022-JP  | /a/..%1B(B/vote | /a/..\u001B(B/vote,/a/../vote,/vote
                    ISO-8859-1   | /caf%E9         | /caf\uFFFD,/caf\u00E9
                    ''           | /caf%E9         | /caf\uFFFD,/caf\u00E9
                    UTF-16       | /%FE%FFvote     | /\uFFFD\uFFFDvote,/vote
                    IBM037       | /%A5%96%A3%85   | /vote
                    windows-1251 | /%E4            | /\uFFFD,/\u0434
                    UTF-8        | /\u0176ot%65    | /\u0176ote,/vote
                    """)
    void readings(String charset, String uri, String expected) {
        FakeExchange exchange = exchange(uri, PercentText.decoded(uri), charset.isEmpty() ? null : charset);
        List<String> readings = RequestPaths.of(exchange.adapted());
        assertTrue(readings.containsAll(List.of(expected.split(",", -1))), readings + " of " + uri);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    ISO-2022-JP, _method=%1B(BDELETE,           429
                    ISO-2022-JP, %1B(B_method=DELETE,           429
                    ISO-2022-JP, %1B%28%42_method=%1B%28%42DELETE, 429
                    ISO-2022-JP, %1B(B%1B(B%1B(B%1B(B%1B(B%1B(B%1B(B_method=DELETE, 429
                    IBM037,      %6D%94%85%A3%88%96%84=%C4%C5%D3%C5%E3%C5, 429
                    IBM037,      _method=%C4%C5%D3%C5%E3%C5,    429
                    ISO-2022-JP, _method=%1B(BPUT,              200
                    nobody,      %1B(B_method=DELETE,           200
                    nobody,      %5Fmethod=DELETE,              429
                    """)
    void aMethodIsClaimedInAnyCharset(String charset, String query, int expected) throws Exception {
        FakeExchange exchange = FakeExchange.at("/vote");
        exchange.method = "POST";
        exchange.query = query;
        exchange.characterEncoding = charset;
        assertEquals(expected, status(exchange, CLOSED + "limiter.rules.r.methods = DELETE\n"));
    }

    @Test
    void tomcatThatDecodesTheQueryByTheCharsetOfTheBodyOpensNoWay() throws Exception {
        try (WebServer server = new WebServer(directory)
                .queriesByTheCharsetOfTheBody()
                .filter("limiter", WebServer.limiter(new ManualTime(), CLOSED + "limiter.rules.r.methods = DELETE\n"))
                .servlet("/*", (request, response) -> response.getWriter().write(request.getParameter("_method")))
                .start()) {
            String query = "?%1B%28%42_method=%1B%28%42DELETE";
            String type = "text/plain;charset=ISO-2022-JP";
            HttpResponse<String> other = server.send("POST", "/other" + query, "", "Content-Type", type);
            assertEquals("DELETE", other.body());
            HttpResponse<String> vote = server.send("POST", "/vote" + query, "", "Content-Type", type);
            assertEquals(429, vote.statusCode());
        }
    }

    private static FakeExchange exchange(String uri, String path, @Nullable String charset) {
        FakeExchange exchange = FakeExchange.at(path);
        exchange.requestUri = uri;
        exchange.characterEncoding = charset;
        return exchange;
    }

    private static int status(FakeExchange exchange, String rules) throws Exception {
        return exchange.through(WebServer.limiter(new ManualTime(), rules));
    }
}
