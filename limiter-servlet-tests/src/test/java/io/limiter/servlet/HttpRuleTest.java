package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.kit.door.Client;
import io.limiter.servlet.WebServer.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests a rule matches, over HTTP. Every rule here allows one request. */
class HttpRuleTest extends Served {

    private static final String[] PREFLIGHT = {"Origin", "https://example.org", "Access-Control-Request-Method", "POST"
    };

    private void start(String rules) {
        server = Container.Kind.TOMCAT.serve(directory, WebServer.limiter(limiter, rules), Answer.text("default"));
    }

    private int status(String method, String path, String... headers) {
        return server.send(method, path, "", headers).statusCode();
    }

    /** As configured in any case, and sent in any case; HEAD counts as GET, and not the other way round. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ext:Purge, ext:mkcol | PURGE 200, purge 429, MKCOL 429, GET 200
                    GET                  | HEAD 200, GET 429, HEAD 429, POST 200
                    HEAD                 | GET 200, GET 200, HEAD 200, HEAD 429
                    """)
    void aRuleIsForTheMethodsThatItLists(String methods, String sent) {
        start("limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.methods = " + methods);

        for (String one : sent.split(", ")) {
            String[] words = one.split(" ");
            assertEquals(Integer.parseInt(words[1]), status(words[0], "/page"), one);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Origin             | ''
                    Origin             | ' '
                    Access-Control-Request-Method | ''
                    Content-Length     | 1
                    Content-Length     | 00
                    Transfer-Encoding  | chunked
                    Cookie             | a=b
                    Authorization      | Basic YTpi
                    Content-Type       | text/plain
                    Content-Encoding   | gzip
                    Expect             | 100-continue
                    Proxy-Authorization | Basic YTpi
                    Upgrade            | h2c
                    Content-Length     | ' 0'
                    Content-Length     | ' '
                    X-HTTP-Method-Override | POST
                    X-HTTP-Method      | post
                    X-Method-Override  | ''
                    """)
    void whatNoBrowserAsksIsNoPreflight(String name, String value) throws Exception {
        RateLimitFilter filter =
                WebServer.limiter(new ManualTime(), "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h");
        for (boolean changed : new boolean[] {false, true}) {
            FakeExchange exchange = new FakeExchange();
            exchange.method = "OPTIONS";
            exchange.header("Origin", "https://example.org")
                    .header("Access-Control-Request-Method", "POST")
                    .header("Content-Length", "0");
            if (changed) {
                exchange.sent.put(name, List.of(value));
            }
            assertEquals(changed ? 429 : 200, exchange.through(filter));
        }
    }

    /** As Firefox and Chrome send it over HTTP/2. */
    @Test
    void whatBrowsersAddLeavesItAPreflight() {
        start("limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h");
        String[] fields = {
            "Origin", "https://example.org",
            "Access-Control-Request-Method", "PUT",
            "Access-Control-Request-Headers", "content-type",
            "Accept", "*/*",
            "Accept-Language", "en",
            "Accept-Encoding", "gzip, deflate, br, zstd",
            "Referer", "https://example.org/",
            "Sec-Fetch-Mode", "cors",
            "Sec-Fetch-Site", "cross-site",
            "Sec-Fetch-Dest", "empty",
            "Priority", "u=4",
            "Pragma", "no-cache",
            "Cache-Control", "no-cache",
            "TE", "trailers"
        };
        assertEquals(200, status("OPTIONS", "/page", fields));
    }

    /** Method names have a case; a handler for every method serves each of these. */
    @ParameterizedTest
    @ValueSource(strings = {"options", "Options", "OPTIONs", "OPT", "OPTIONSX", "POST"})
    void onlyOptionsAsTheStandardWritesItIsAPreflight(String method) {
        start("limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h");
        String[] lines = {
            method + " /page HTTP/1.1", "Host: h", "Origin: https://example.org", "Access-Control-Request-Method: POST"
        };

        assertEquals(200, new Client(server.port(), List.of(lines)).response().status());
        assertEquals(429, new Client(server.port(), List.of(lines)).response().status());
        lines[0] = "OPTIONS /page HTTP/1.1";
        assertEquals(200, new Client(server.port(), List.of(lines)).response().status());
    }

    /** An application that listens to the claim runs the method that was claimed. */
    @ParameterizedTest
    @CsvSource({
        "_method=POST, declared, 429",
        "_method=POST, forms, 429",
        "_method=POST, none, 200",
        "x=POST, forms, 200"
    })
    void aPreflightThatClaimsAnotherMethodCounts(String query, String mode, int expected) {
        start("limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h\nlimiter.http.method-override = " + mode);

        assertEquals(expected, status("OPTIONS", "/page?" + query, PREFLIGHT));
    }

    @Test
    void aPreflightIsLimitedWhereARuleListsOptions() {
        start("limiter.rules.r.path = /*\nlimiter.rules.r.methods = OPTIONS\nlimiter.rules.r.limits = 1/1h");

        assertEquals(200, status("OPTIONS", "/page", PREFLIGHT));
        assertEquals(429, status("OPTIONS", "/page", PREFLIGHT));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/;x=y",
                "/.",
                "/%2e",
                "/docs/..",
                "/docs/%2E.;x",
                "/docs/",
                "/docs//",
                "/docs/;x",
                "/docs/./",
                "/docs/."
            })
    void aRuleForAFolderIsForItsWelcomeFile(String spelling) throws IOException {
        Path docs = Files.createDirectories(directory.resolve("web/docs"));
        Files.writeString(docs.resolve("index.html"), "docs");
        Files.writeString(docs.resolve("other.html"), "other");
        Files.writeString(docs.resolveSibling("index.html"), "root");
        start("limiter.rules.r.path = /, /docs\nlimiter.rules.r.limits = 1/1h");
        ((WebServer) server).context().addWelcomeFile("index.html");

        assertEquals(200, status("GET", spelling));
        assertEquals(429, status("GET", spelling));
        assertEquals(200, status("GET", "/docs/index.html"));
        assertEquals(200, status("GET", "/docs/other.html"));
    }
}
