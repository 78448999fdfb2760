package io.limiter.http.internal.match;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import io.limiter.servlet.FakeExchange;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.WebServer;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which paths a request could mean. */
class RequestPathsTest {
    /** The application is at /app, as reported by the container. */
    private static HttpServletRequest request(String uri, String prefix, String routed) {
        FakeExchange exchange = new FakeExchange();
        exchange.requestUri = uri;
        exchange.path = routed;
        return new HttpServletRequestWrapper(exchange.request()) {
            @Override
            public String getContextPath() {
                return prefix;
            }

            @Override
            public String getServletPath() {
                if (routed.equals("refused")) {
                    throw new IllegalArgumentException("Ambiguous URI encoding");
                }
                return routed;
            }
        };
    }

    private static List<String> readings(String uri, String prefix, String routed) {
        return RequestPaths.of(new ServletHttpRequest(request(uri, prefix, routed)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /vote              | ''     | /vote             | /vote
                    /app/vote          | /app   | /vote             | /vote
                    /app//vote         | /app   | /vote             | /vote
                    /app               | /app   | ''                | ''
                    /app/%76ote        | /app   | /vote             | /vote
                    /app/docs/         | /app   | /docs/index.html  | /docs/index.html,/docs/
                    /docs/             | ''     | /docs/faces/index.xhtml | /docs/faces/index.xhtml,/docs/
                    /docs/.;a=b        | ''     | /docs/faces/index.xhtml | /docs/faces/index.xhtml,/docs/,/docs/.
                    /old               | ''     | /new              | /new,/old
                    /a%2Fb             | ''     | /a%2Fb            | /a%2Fb,/a/b
                    /a%2Fb             | ''     | /a/b              | /a/b,/a%2Fb
                    /my%20app/vote;x   | /my%20app | /vote          | /vote
                    /app;x/vote        | /app;x | /vote             | /vote
                    /other/vote        | /app   | /vote             | /vote
                    /application/vote  | /app   | /vote             | /vote
                    /app/../other/vote | /app   | /vote             | /vote,/../other/vote
                    /app/a/../vote     | /app   | /vote             | /vote,/a/../vote
                    /x/../app/a/../b   | /x/../app | /b             | /b,/a/../b
                    /a/..%2Fb          | ''     | refused           | ,/b,/a/..%2Fb,/a/../b
                    /app/files/a%2Fb   | /app   | refused           | ,/files/a/b,/files/a%2Fb
                    """)
    void are(String uri, String prefix, String routed, String expected) {
        assertEquals(List.of(expected.split(",", -1)), readings(uri, prefix, routed));
    }

    /** One path variable of the encoded spelling, two segments of the decoded one: neither rule is walked around. */
    @ParameterizedTest
    @CsvSource({
        "/files/{name}, /files/a%2Fb",
        "/files/*, /files/a%2Fb",
        "/files/a/b, /files/a%2Fb",
        "/door, /x/..%2Fdoor"
    })
    void aRuleMeetsWhatAContainerWillNotDecode(String rule, String uri) throws Exception {
        RateLimitFilter filter = WebServer.limiter(
                new ManualTime(), "limiter.rules.r.path = " + rule + "\nlimiter.rules.r.limits = 0/1h");
        FakeExchange exchange = new FakeExchange();
        filter.doFilter(request(uri, "", "refused"), exchange.response(), (in, out) -> {});
        assertEquals(429, exchange.status);
    }

    @Test
    void nothingAtAllIsTheRoot() {
        assertEquals(List.of(""), readings(null, null, ""));
    }
}
