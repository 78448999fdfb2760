package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.server.Caller.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The web application as it is, in one real server, over HTTP. Each test uses up other limits. */
class VoteServerTest {
    private static VoteServer server;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        server = VoteServer.start(Path.of(System.getProperty("vote.war")), 0);
        port = server.port();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void of100VotesAtOnceThreePassAndAfterRetryAfterOneMore() throws Exception {
        List<Answer> answers = Caller.burst(100, "POST", "/api/votes?for=tea", port);

        int passed = passed(3, answers);
        List<Answer> denied = Caller.with(429, answers);
        assertEquals(100 - passed, denied.size());
        for (Answer answer : denied) {
            // Rounded up, it is 10 when nothing has passed since the votes, and one less with each second that has.
            assertTrue(
                    answer.retryAfter() <= 10 && answer.retryAfter() >= 10 - answer.seconds(),
                    answer.retryAfter() + " s, answered after " + answer.seconds() + " s");
        }

        Answer last = denied.get(denied.size() - 1);
        assertDenied(last.response(), "vote", 10);
        // The one wait in real time: a client that waits as long as Retry-After is allowed.
        long seconds = last.retryAfter();
        List<HttpResponse<String>> tries = new ArrayList<>();
        Await.until(Duration.ofSeconds(seconds), () -> "a vote is allowed", () -> {
            HttpResponse<String> vote = Caller.call("POST", "/api/votes?for=coffee", port);
            tries.add(vote);
            return vote.statusCode() == 200;
        });
        assertEquals(
                "{\"tea\":" + passed + ",\"coffee\":1}",
                tries.get(tries.size() - 1).body());

        List<HttpResponse<String>> forNothing = new ArrayList<>();
        Await.until(Duration.ofSeconds(30), () -> "another is allowed", () -> {
            HttpResponse<String> vote = Caller.call("POST", "/api/votes", port);
            forNothing.add(vote);
            return vote.statusCode() != 429;
        });
        HttpResponse<String> refused = forNothing.get(forNothing.size() - 1);
        assertEquals(400, refused.statusCode());
        assertEquals("{\"error\":\"vote for tea or for coffee: /api/votes?for=tea\"}", refused.body());
    }

    @ParameterizedTest
    @CsvSource({"/poll, 20, poll", "/api/export, 2, export-10s"})
    void eachPathIsDeniedAtItsLimit(String path, int limit, String name) {
        List<Answer> answers = Caller.burst(2 * limit, "GET", path, port);

        int passed = passed(limit, answers);
        List<Answer> denied = Caller.with(429, answers);
        assertEquals(2 * limit - passed, denied.size());
        denied.forEach(answer -> assertDenied(answer.response(), name, 10));
    }

    /** How many passed: the limit in ten seconds, and a busy machine may need more than ten for a burst. */
    private static int passed(int limit, List<Answer> answers) {
        int passed = Caller.with(200, answers).size();
        long seconds = answers.stream().mapToLong(Answer::seconds).max().orElseThrow();
        assertTrue(passed >= limit && passed <= limit * (1 + seconds / 10), passed + " passed in " + seconds + " s");
        return passed;
    }

    private static void assertDenied(HttpResponse<String> denied, String name, long period) {
        assertEquals(429, denied.statusCode());
        assertEquals(
                "application/problem+json",
                denied.headers().firstValue("Content-Type").orElseThrow());
        assertTrue(denied.body().endsWith("\"violated-policies\":[\"" + name + "\"]}"), denied.body());
        long retryAfter = denied.headers().firstValueAsLong("Retry-After").orElseThrow();
        assertTrue(retryAfter >= 1 && retryAfter <= period, "Retry-After: " + retryAfter);
    }

    @Test
    void theBucketGivesItsBurstAndThenWhatFlowsIn() {
        long start = System.nanoTime();
        List<Answer> answers = Caller.burst(60, "GET", "/api/results", port);
        long seconds = (System.nanoTime() - start) / 1_000_000_000 + 1;

        int passed = Caller.with(200, answers).size();
        assertTrue(passed >= 10 && passed <= 10 + 5 * seconds, passed + " passed in " + seconds + " s");
        for (Answer denied : Caller.with(429, answers)) {
            assertEquals(1, denied.retryAfter());
        }
        assertEquals(60, passed + Caller.with(429, answers).size());
    }

    @Test
    void whatHasNoRuleIsFree() {
        for (String path : List.of("/", "/index.html", "/page.css", "/page.js", "/docs/rules.md")) {
            assertEquals(
                    30, Caller.with(200, Caller.burst(30, "GET", path, port)).size(), path);
        }
    }

    /** The page of the front shows three lines of the file, and links to pages that are there. */
    @Test
    void thePageSaysWhatIsConfiguredAndLinksToTheDocs() throws Exception {
        String page = Caller.call("GET", "/", port).body();
        String properties = Files.readString(Path.of("../vote-webapp/src/main/webapp/WEB-INF/limiter.properties"));
        List<String> lines = Pattern.compile("(?m)limiter\\.\\S+ = [^<\n]+")
                .matcher(page)
                .results()
                .map(MatchResult::group)
                .toList();
        assertEquals(3, lines.size());
        lines.forEach(line -> assertTrue(properties.contains(line + "\n"), line));

        List<String> links = Pattern.compile("href=\"(docs/[^\"]+)\"")
                .matcher(page)
                .results()
                .map(link -> "/" + link.group(1))
                .toList();
        assertTrue(links.size() > 2, page);
        for (String link : links) {
            HttpResponse<String> answer = Caller.call("GET", link, port);
            assertEquals(200, answer.statusCode(), link);
            assertEquals(
                    "text/plain;charset=utf-8",
                    answer.headers().firstValue("Content-Type").orElse("").toLowerCase(Locale.ROOT));
        }
    }
}
