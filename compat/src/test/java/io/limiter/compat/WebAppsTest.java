package io.limiter.compat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every container must do with the same WAR files. Each test has paths, and so limits, of its own. */
class WebAppsTest {
    @TempDir
    static Path directory;

    private static Container container;
    private static Calls calls;

    @BeforeAll
    static void start() throws Exception {
        container = Container.start(
                directory,
                Map.of(
                        "", Path.of(System.getProperty("vote.war")),
                        "/dispatch", Path.of(System.getProperty("dispatch.war"))));
        calls = new Calls(container.port());
    }

    @AfterAll
    static void stop() throws Exception {
        container.close();
    }

    @Test
    void thePageIsFree() throws Exception {
        HttpResponse<String> page = calls.call("GET", "/");
        assertEquals(200, page.statusCode());
        assertTrue(page.body().contains("<h1>Four ways to limit</h1>"));
        assertEquals(List.of(200, 200, 200, 200, 200), calls.statuses(5, "GET", "/page.css"));
    }

    @Test
    void theFourthVoteIsDenied() throws Exception {
        String path = "/api/votes?for=tea";
        assertEquals(List.of(200, 200, 200), calls.statuses(3, "POST", path));

        HttpResponse<String> denied = calls.call("POST", path);

        assertEquals(429, denied.statusCode());
        long seconds = denied.headers().firstValueAsLong("Retry-After").orElseThrow();
        assertTrue(seconds >= 1 && seconds <= 10, "Retry-After: " + seconds);
        assertEquals(List.of("no-store"), denied.headers().allValues("Cache-Control"));
        assertEquals(List.of("application/problem+json"), denied.headers().allValues("Content-Type"));
        assertEquals(
                "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                        + "\"title\":\"Quota Exceeded\",\"status\":429,\"detail\":\"Try again in " + seconds
                        + (seconds == 1 ? " second" : " seconds") + ".\",\"violated-policies\":[\"vote\"]}",
                denied.body());
        assertEquals(405, calls.call("GET", path).statusCode());
    }

    @Test
    void headCountsAsGetAndGetsNoBody() throws Exception {
        assertEquals(List.of(200, 200, 429), calls.statuses(3, "HEAD", "/api/export"));
        HttpResponse<String> get = calls.call("GET", "/api/export");
        HttpResponse<String> head = calls.call("HEAD", "/api/export");

        assertEquals(429, get.statusCode());
        assertEquals(429, head.statusCode());
        assertEquals("", head.body());
        assertTrue(head.headers().firstValue("Retry-After").isPresent());
        assertEquals(get.headers().firstValue("Content-Type"), head.headers().firstValue("Content-Type"));
    }

    @ParameterizedTest
    @CsvSource({"forward, FORWARD, 200", "include, INCLUDEINCLUDE, 200", "async, ASYNC, 200", "error, ERROR, 500"})
    void aDispatchIsCountedOnce(String kind, String body, int status) throws Exception {
        String path = "/dispatch/" + kind + "/in";
        HttpResponse<String> first = calls.call("GET", path);

        assertEquals(status, first.statusCode());
        assertEquals(body, first.body());
        assertEquals(List.of(status, 429, 429), calls.statuses(3, "GET", path));
    }

    @Test
    void aForwardIntoThePathOfAnotherRuleIsCountedByThatRule() throws Exception {
        assertEquals("FORWARD", calls.call("GET", "/dispatch/front").body());

        HttpResponse<String> denied = calls.call("GET", "/dispatch/front");

        assertEquals(429, denied.statusCode());
        assertTrue(denied.body().endsWith("\"violated-policies\":[\"behind\"]}"), denied.body());
        assertEquals(429, calls.call("GET", "/dispatch/behind").statusCode());
    }

    /** Tomcat names the welcome file before its filters run, Jetty forwards to it. */
    @ParameterizedTest
    @ValueSource(
            strings = {"/welcome/", "/welcome/;a=b", "/welcome/.", "/faces-app/", "/faces-app/;a=b", "/faces-app//"})
    void aRuleForAFolderIsForItsWelcomeFile(String spelling) throws Exception {
        int status = calls.call("GET", "/dispatch" + spelling).statusCode();
        assertTrue(status == 429 || status == 302 || status == 400, spelling + ": " + status);
        assertEquals(200, calls.call("GET", "/dispatch/welcome/index.html").statusCode());
        assertEquals(
                200, calls.call("GET", "/dispatch/faces-app/faces/index.xhtml").statusCode());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/closed/door",
                "/closed/door/",
                "/closed/%64oor",
                "/clos%65d/door",
                "/closed/door;a=b",
                "/closed;a=b/door",
                "/closed/./door",
                "/closed/x/../door",
                "//closed//door",
                "/closed/%2e/door",
                "/closed/x/%2e%2e/door",
                "/closed/x/..;a=b/door",
                "/closed%2Fdoor",
                "/closed%5Cdoor",
                "/closed/door%00",
                "/closed/door%E2%82",
                "/;/closed/door",
                "/closed/door;/",
                "/closed/door?x=1"
            })
    void noSpellingOfAPathGetsAroundItsRule(String spelling) throws Exception {
        int status = calls.call("GET", "/dispatch" + spelling).statusCode();

        // A container may refuse a spelling, or know no servlet of it; what it serves, the rule has met.
        assertTrue(status == 429 || status == 400 || status == 404, spelling + ": " + status);
        assertEquals("REQUEST", calls.call("GET", "/dispatch/closed/window").body());
    }
}
