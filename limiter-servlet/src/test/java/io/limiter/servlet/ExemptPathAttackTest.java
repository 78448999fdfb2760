package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.servlet.RuleSite.Container;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Exempt paths under attack: whatever is counted is denied here, so what reaches the application was not counted. Then every
 * router, by the servlet API or by the request line, must read an exempt path and nothing else.
 */
class ExemptPathAttackTest {
    private static final String RULES = "limiter.rules.all.path = /*\n"
            + "limiter.rules.all.limits = 0/1h fixed\n"
            + "limiter.rules.all.except = /health, /static/*, /img/{size}/logo.png\n";
    private static final String EXEMPT = "/health|/static(/.*)?|/img/[^/]+/logo[.]png";

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Container.class)
    void noMethodOrHeaderMakesAnotherPathExempt(Container container) {
        List<String> headers = List.of(
                "X-Original-URL: /health",
                "X-Rewrite-URL: /health",
                "X-Forwarded-Prefix: /health",
                "X-Forwarded-Path: /health",
                "X-HTTP-Method-Override: OPTIONS",
                "X-Http-Method: HEAD",
                "X-Forwarded-For: 127.0.0.1",
                "Forwarded: for=127.0.0.1;host=health",
                "Referer: http://h/health",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Type: text/plain;charset=UTF-16",
                "Upgrade: h2c");
        int cases = 0;
        try (RuleSite site = new RuleSite(container, directory, RULES)) {
            for (String method :
                    List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "X")) {
                for (String path : List.of("/admin", "/admin?_method=GET", "/healthy", "/static.css", "/a/health")) {
                    for (String header : headers) {
                        site.raw(List.of(method + " " + path + " HTTP/1.1", "Host: h", header, "Content-Length: 0"));
                        assertEquals(0, site.served.get(), method + " " + path + " " + header);
                        cases++;
                    }
                }
            }
            assertEquals(600, cases);
        }
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void whatAnExemptPathDispatchesToIsCountedThere(Container container) {
        String rules = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h fixed\n"
                + "limiter.rules.all.except = /go, /health\n";
        try (RuleSite site = new RuleSite(container, directory, rules)) {
            assertEquals(5, site.reached(5, "/go"));
            assertEquals(5, site.reached(5, "/go?forward=/health"));
            assertEquals(1, site.reached(5, "/go?forward=/admin"));
            assertEquals(0, site.reached(5, "/go?async=/admin"), "one quota for both");
        }
        try (RuleSite site = new RuleSite(container, directory.resolve("2"), rules)) {
            assertEquals(1, site.reached(5, "/go?async=/admin"));
            assertEquals(5, site.reached(5, "/go?async=/health"));
        }
    }
}
