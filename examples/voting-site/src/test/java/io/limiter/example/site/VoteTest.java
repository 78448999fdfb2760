package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.site.Browser.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class VoteTest extends StillSite {
    private static final String TEA = "{\"candidate\":\"tea\"}";

    private static final Pattern LINE = Pattern.compile("for i in (?<calls>[\\d ]+); do curl .*"
            + " -H 'Content-Type: application/json' -d '(?<body>[^']+)' http://localhost:8080(?<path>\\S+); done");

    private Answer vote(String ballot) {
        return browser.post(site.port(), "/api/votes", ballot);
    }

    private long teas() {
        return browser.get(site.port(), "/api/results")
                .json()
                .at("/candidates/0/votes")
                .asLong();
    }

    @Test
    void threeVotesCountAndTheFourthIsToldWhenTheNextOneDoes() {
        long before = teas();
        for (int i = 0; i < 3; i++) {
            assertEquals(200, vote(TEA).status(), "vote " + i);
            site.time().advance(Duration.ofSeconds(1));
        }
        Answer denied = vote(TEA);

        assertEquals(429, denied.status());
        assertEquals("7", denied.header("Retry-After"));
        assertEquals("\"vote\";r=0;t=7", denied.header("RateLimit"));
        assertEquals("\"vote\";q=3;w=10", denied.header("RateLimit-Policy"));
        assertEquals("application/problem+json", denied.header("Content-Type"));
        assertEquals("vote", denied.json().at("/violated-policies/0").asString());
        assertEquals(before + 3, teas());

        site.time().advance(Duration.ofSeconds(7));
        assertEquals(200, vote(TEA).status());
        assertEquals(before + 4, teas());
    }

    @Test
    void whoVotesIsTheAddressAndNotTheCookie() {
        for (int i = 0; i < 3; i++) {
            assertEquals(200, new Browser().post(site.port(), "/api/votes", TEA).status());
        }
        assertEquals(429, new Browser().post(site.port(), "/api/votes", TEA).status());
    }

    /** The loop of the examples' page, sent as curl sends it. */
    @Test
    void theLineOfThePageVotesThreeTimesOfFour() throws IOException {
        Matcher line = LINE.matcher(Files.readString(Path.of("../README.md")));
        assertTrue(line.find(), "the page shows no such line");

        List<Integer> statuses = new ArrayList<>();
        for (String each : line.group("calls").split(" ", -1)) {
            statuses.add(browser.post(site.port(), line.group("path"), line.group("body"))
                    .status());
            assertEquals(statuses.size(), Integer.parseInt(each));
        }
        assertEquals(List.of(200, 200, 200, 429), statuses);
    }

    @Test
    void theResultsTellTheRuleAsItIsConfigured() {
        JsonNode results = browser.get(site.port(), "/api/results").json();

        assertEquals("Tea", results.at("/candidates/0/name").asString());
        assertEquals(3, results.at("/candidates").size());
        assertEquals("{\"votes\":3,\"periodMillis\":10000}", results.at("/rule").toString());
        assertEquals("in-process", results.at("/backend").asString());
        assertEquals("port " + site.port(), results.at("/countedBy").asString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"candidate\":\"gin\"} | candidate is 'gin'; vote for one of [tea, coffee, cocoa]",
                "{} | candidate is missing; vote for one of [tea, coffee, cocoa]",
                "{\"candidate\":\"<b>\"} | candidate is '<b>'; vote for one of [tea, coffee, cocoa]",
            })
    void aVoteForNobodyIsToldWhatToVoteFor(String ballot, String message) {
        Answer wrong = vote(ballot);

        assertEquals(400, wrong.status());
        assertEquals("application/problem+json", wrong.header("Content-Type"));
        assertEquals(message, wrong.json().at("/detail").asString());
    }

    @Test
    void aVoteFromAFormOfAnotherSiteIsNone() {
        Answer form = browser.postForm(site.port(), "/api/votes", "candidate=tea");

        assertEquals(415, form.status());
        assertEquals(
                "Content-Type is 'application/x-www-form-urlencoded'; send Content-Type: application/json, and a JSON"
                        + " object such as {\"candidate\":\"tea\"}",
                form.json().at("/detail").asString());
    }

    @Test
    void aBodyThatIsMuchTooLargeIsNotRead() {
        String large = "{\"candidate\":\"" + "t".repeat(SmallBodies.MOST_BYTES) + "\"}";

        assertEquals(413, vote(large).status());
    }
}
