package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.site.Browser.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Access to the operators' page and its files, and permission to change anything there. */
class OperatorsTest {
    private static final Path PAGE = Path.of("src/main/resources/static/operators");
    private static final String LOGIN = basic("operator", "correct horse");
    private static final String VOTE = "/actuator/ratelimits/vote?key=127.0.0.1";
    private static final String TEA = "{\"candidate\":\"tea\"}";

    private static Site site;

    private final Browser browser = new Browser();

    private static String basic(String user, String password) {
        String both = user + ":" + password;
        return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
    }

    @BeforeAll
    static void start() {
        site = Site.startWithStillTime("spring.security.user.password=correct horse");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    @BeforeEach
    void later() {
        site.time().advance(Duration.ofMinutes(5));
    }

    /** Of a browser without cookies, but those that the test names. */
    private Answer call(String method, String path, String... headers) {
        String[] all = Stream.concat(Stream.of("Authorization", LOGIN), Stream.of(headers))
                .toArray(String[]::new);
        return new Browser().sendWith(site.port(), method, path, all);
    }

    private long left() {
        return call("GET", VOTE).json().at("/limits/0/remaining").asLong();
    }

    private void useUpVotes() {
        for (int i = 0; i < 3; i++) {
            assertEquals(200, new Browser().post(site.port(), "/api/votes", TEA).status());
        }
        assertEquals(0, left());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/operators",
                "/operators/",
                "/operators/index.html",
                "/operators/js/main.js",
                "/operators/x/../index.html",
                "/x/../operators/index.html",
                "//operators/index.html",
                "/operators;a=b/index.html",
                "/operators/%69ndex.html",
                "/%6fperators/index.html",
                "/actuator",
                "/actuator/health",
                "/actuator/ratelimits",
                "/actuator/ratelimits/",
                "/actuator/ratelimits/denied",
                "/actuator;/ratelimits",
                "/%61ctuator/ratelimits",
                "/./actuator/ratelimits",
                VOTE
            })
    void nothingWithoutTheLogin(String path) {
        Answer answer = browser.get(site.port(), path);
        assertTrue(List.of(400, 401, 404).contains(answer.status()), answer.status() + " " + answer.body());
        assertFalse(answer.body().contains("policies"), answer.body());
        assertNotEquals(
                200,
                browser.get(site.port(), path, "Authorization", basic("operator", "x"))
                        .status());
    }

    @Test
    void aLoginIsAskedForAndTheRestOfTheSiteIsOpen() {
        Answer refused = browser.get(site.port(), "/actuator/ratelimits");
        assertEquals(401, refused.status());
        assertTrue(refused.header("WWW-Authenticate").startsWith("Basic"), refused.header("WWW-Authenticate"));
        assertEquals(200, browser.get(site.port(), "/").status());
        assertEquals(200, browser.post(site.port(), "/api/votes", TEA).status());
    }

    @Test
    void everyFileIsServedWithTheLogin() throws IOException {
        assertEquals(302, call("GET", "/operators").status());
        try (Stream<Path> files = Files.walk(PAGE)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Answer answer = call("GET", "/operators/" + PAGE.relativize(file));
                assertEquals(Files.readString(file), answer.body());
                assertTrue(answer.header("Content-Security-Policy").startsWith("default-src 'none'"), file.toString());
            }
        }
        Answer report = call("GET", "/actuator/ratelimits");
        assertEquals(200, report.status());
        assertTrue(report.json().at("/policies/vote").isObject(), report.body());
        assertEquals("nosniff", report.header("X-Content-Type-Options"));
        assertEquals("", report.header("Set-Cookie").replaceFirst("XSRF-TOKEN=.*", ""), "no session");
    }

    @Test
    void aResetNeedsTheTokenOfThisSite() {
        useUpVotes();
        // As a page of another site would send it: the browser adds the login and the cookies, and nothing else.
        assertEquals(403, call("DELETE", VOTE).status());
        assertEquals(403, call("DELETE", VOTE, "Cookie", "XSRF-TOKEN=a").status());
        assertEquals(403, call("DELETE", VOTE, "X-XSRF-TOKEN", "a").status());
        assertEquals(
                403,
                call("DELETE", VOTE, "Cookie", "XSRF-TOKEN=a", "X-XSRF-TOKEN", "b")
                        .status());
        assertEquals(
                403, call("POST", "/actuator/ratelimits/vote?_method=delete").status());
        assertEquals(
                403,
                call("POST", "/actuator/ratelimitexplain", "Content-Type", "text/plain")
                        .status());
        assertEquals(0, left());

        // As the page sends it.
        assertEquals(
                200,
                call("DELETE", VOTE, "Cookie", "XSRF-TOKEN=a", "X-XSRF-TOKEN", "a")
                        .status());
        assertEquals(3, left());
    }

    @Test
    void theTokenComesWithThePageAndScriptsOfThisSiteCanReadIt() {
        String cookie = call("GET", "/operators/index.html").header("Set-Cookie");
        assertTrue(cookie.matches("XSRF-TOKEN=[\\w-]+;.*") && !cookie.contains("HttpOnly"), cookie);
    }

    @Test
    void withoutTheLoginATokenIsWorthNothing() {
        useUpVotes();
        Answer answer =
                new Browser().sendWith(site.port(), "DELETE", VOTE, "Cookie", "XSRF-TOKEN=a", "X-XSRF-TOKEN", "a");
        assertTrue(List.of(401, 403).contains(answer.status()), String.valueOf(answer.status()));
        assertEquals(0, left());
    }

    @Test
    void guessesAtThePasswordAreLimitedAndWorkIsNot() {
        for (int i = 0; i < 30; i++) {
            assertEquals(
                    200,
                    browser.get(site.port(), "/actuator/ratelimits", "Authorization", LOGIN)
                            .status());
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(
                    401,
                    browser.get(site.port(), "/actuator/health", "Authorization", basic("operator", "guess " + i))
                            .status());
        }
        assertEquals(
                429,
                browser.get(site.port(), "/operators/index.html", "Authorization", basic("operator", "guess"))
                        .status());
        site.time().advance(Duration.ofMinutes(1));
        assertEquals(200, call("GET", "/actuator/ratelimits").status());
    }

    @Test
    void withoutAConfiguredPasswordNobodyKnowsIt() {
        try (Site generated = Site.start()) {
            for (String password : List.of("", "operator", "password", "correct horse")) {
                assertEquals(
                        401,
                        browser.get(
                                        generated.port(),
                                        "/actuator/ratelimits",
                                        "Authorization",
                                        basic("operator", password))
                                .status());
            }
        }
    }

    /** Only an answer of the server can say that there is nothing. */
    @Test
    void thePageClaimsNothingBeforeItHasAsked() throws IOException {
        String page = Files.readString(PAGE.resolve("index.html"));
        assertTrue(page.contains("id=\"denied-none\" class=\"empty\">Not known yet.<"), page);
        assertFalse(page.contains("No call has been denied"));
        assertTrue(Files.readString(PAGE.resolve("js/denied.js")).contains("No call has been denied"));
    }
}
