package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Repeats;
import io.limiter.servlet.RuleSite.Container;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
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

    /** What comes between segments, or into them. */
    private static final List<String> ODD = List.of(
            "/",
            "//",
            "/./",
            "/../",
            "/;/",
            "/..;/",
            "/.;x/",
            ";x=1",
            ";",
            "%2f",
            "%2F",
            "%5c",
            "\\",
            "%2e",
            "%2e%2e",
            "/%2e%2e/",
            "..",
            ".",
            "%00",
            "%20",
            "%09",
            "%0d",
            "+",
            "%252e",
            "%252f",
            "%25",
            "?",
            "?x=/health",
            "#",
            "%E2%82",
            "%c0%ae",
            "%u002e",
            "/..%2f",
            "/..%5c",
            ".json",
            "~",
            ":",
            "@",
            "*",
            "%3b",
            "%3f",
            "%23",
            "%7f");

    private static final List<String> WORDS =
            List.of("health", "static", "img", "1", "logo.png", "admin", "HEALTH", "h%65alth", "a.css", "");

    /** From the vectors of the Servlet specification and of advisories, around what is exempt and what is not. */
    private static final List<String> WRITTEN = List.of(
            "/x/..;/health",
            "/static/..;/admin",
            "/static/../admin",
            "/static/%2e%2e/admin",
            "/static/..%2fadmin",
            "/static/..%5cadmin",
            "/static/%2e%2e%2fadmin",
            "/static/%252e%252e/admin",
            "/static/x/../../admin",
            "/health/../admin",
            "/health/..;/admin",
            "/admin/..;/health",
            "/admin;/health",
            "/health;/admin",
            "/admin%2fhealth",
            "/admin?/health",
            "//health",
            "/health/",
            "/health//",
            "/health%00",
            "/health%20",
            "/health.json",
            "/HEALTH",
            "/Static/a.css",
            "/static;x/../admin",
            "/static/;/admin",
            "/;/health",
            "/static/.%2e/admin",
            "/static\\..\\admin",
            "/static/..\\admin",
            "/%73tatic/../admin",
            "/./health",
            "/static/a%2fb",
            "/static/a;jsessionid=1",
            "/img//logo.png",
            "/img/1/2/logo.png",
            "/img/../logo.png",
            "/img/..;/logo.png",
            "/img/%2e%2e/logo.png",
            "/img/a%2fb/logo.png",
            "/health?x",
            "/static",
            "/static/",
            "/static/a.css",
            "/img/1/logo.png",
            "/health",
            "/h%65alth",
            "/static/a%20b.css",
            "http://h/health",
            "http://h/admin",
            "http://health/admin",
            "*");

    @TempDir
    Path directory;

    private static List<String> targets(int random) {
        Set<String> all = new LinkedHashSet<>(WRITTEN);
        for (String odd : ODD) {
            for (String path : List.of("/health", "/static/a.css", "/admin", "/static/", "/")) {
                all.add(path + odd);
                all.add(path + odd + "admin");
                all.add(path + odd + "/health");
                all.add("/" + odd + path.substring(1));
                all.add("/admin/" + odd + path);
            }
        }
        Random seeded = new Random(17);
        while (all.size() < random) {
            StringBuilder path = new StringBuilder("/");
            for (int i = seeded.nextInt(4); i >= 0; i--) {
                path.append(WORDS.get(seeded.nextInt(WORDS.size())));
                path.append(seeded.nextInt(3) == 0 ? "/" : ODD.get(seeded.nextInt(ODD.size())));
            }
            path.append(WORDS.get(seeded.nextInt(WORDS.size())));
            all.add(path.toString());
        }
        return new ArrayList<>(all);
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void noSpellingReachesAnotherPathUncounted(Container container) {
        int uncounted = 0;
        int refused = 0;
        List<String> targets = targets(Repeats.of(500, 5_000));
        try (RuleSite site = new RuleSite(container, directory, RULES)) {
            for (String target : targets) {
                int before = site.served.get();
                String answer = site.raw(List.of("GET " + target + " HTTP/1.1", "Host: h"));
                refused += answer.startsWith("HTTP/1.1 400") ? 1 : 0;
                if (site.served.get() > before) {
                    uncounted++;
                    String[] read = answer.substring(answer.indexOf("\r\n\r\n") + 4)
                            .strip()
                            .split("\\R");
                    // A chunked answer has its lengths between the lines.
                    List<String> paths = List.of(read).stream()
                            .filter(line -> line.startsWith("/"))
                            .toList();
                    assertTrue(!paths.isEmpty(), target);
                    for (String path : paths) {
                        assertTrue(path.replace("%65", "e").matches(EXEMPT), target + " is read as " + path);
                        assertTrue(!path.matches("(.*/)?[.]{1,2}(/.*)?|.*(;|//|%25|%2[fF]).*"), target);
                    }
                }
            }
        }
        assertTrue(uncounted >= 5, "the exempt paths themselves: " + uncounted);
        assertTrue(
                targets.size() - uncounted - refused > targets.size() / 4,
                uncounted + " " + refused + " " + targets.size());
    }

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
