package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.site.Browser.Answer;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class LabTest extends StillSite {
    private JsonNode view() {
        return ok(browser.get(site.port(), "/api/lab"));
    }

    private void limits(long permits, long periodMillis, long burst) {
        ok(browser.put(
                site.port(),
                "/api/lab/limits",
                "{\"permits\":%d,\"periodMillis\":%d,\"burst\":%d}".formatted(permits, periodMillis, burst)));
    }

    /** This number of calls at the current moment. */
    private JsonNode burst(int calls) {
        return burst(browser, calls);
    }

    private static JsonNode burst(Browser visitor, int calls) {
        return ok(visitor.post(site.port(), "/api/lab/traffic", steps(0, calls, 0)));
    }

    private static String steps(long at, long calls, long over) {
        return "{\"steps\":[{\"atMillis\":%d,\"calls\":%d,\"overMillis\":%d}]}".formatted(at, calls, over);
    }

    private static JsonNode ok(Answer answer) {
        assertTrue(answer.status() == 200 || answer.status() == 202, answer.status() + " " + answer.body());
        return answer.json();
    }

    /** The verdicts of a lane, one character for each call: + or -. */
    private static String said(JsonNode view, int lane) {
        StringBuilder said = new StringBuilder();
        for (JsonNode arrival : view.at("/arrivals")) {
            said.append(arrival.at("/verdicts/" + lane + "/allowed").asBoolean() ? '+' : '-');
        }
        return said.toString();
    }

    private static List<String> lanes(JsonNode view, String field) {
        List<String> values = new ArrayList<>();
        view.at("/lanes").forEach(lane -> values.add(lane.at("/" + field).asString()));
        return values;
    }

    @Test
    void atTheEdgeOfAWindowFixedLetsTwiceAsManyThrough() {
        limits(3, 10_000, 5);
        burst(1);
        site.time().advance(Duration.ofMillis(9_900));
        burst(3);
        site.time().advance(Duration.ofMillis(200));
        JsonNode view = burst(3);

        assertEquals(List.of("fixed", "sliding-list", "sliding-zset", "token-bucket"), lanes(view, "algorithm"));
        assertEquals("+" + "++-" + "+++", said(view, 0));
        assertEquals("+" + "++-" + "+--", said(view, 1));
        assertEquals("+" + "++-" + "+--", said(view, 2));
        // A full bucket of 5 when the burst comes; then 2 and a little are left.
        assertEquals("+" + "+++" + "++-", said(view, 3));
        assertEquals(List.of("6", "4", "4", "6"), lanes(view, "admitted"));
        assertEquals(List.of("1", "3", "3", "1"), lanes(view, "denied"));
        assertEquals(List.of("0", "0", "0", "0"), lanes(view, "remaining"));

        JsonNode last = view.at("/arrivals/6/verdicts");
        assertEquals(10_000, last.at("/0/reset").asDouble(), "the window has just begun");
        assertEquals(9_800, last.at("/1/retryAfter").asDouble(), "the first of the burst leaves the log");
        assertEquals(9_800, last.at("/2/retryAfter").asDouble());
        // 0.06 of a permit is there, and 3 flow in within 10 s.
        assertEquals(3_133.334, last.at("/3/retryAfter").asDouble(), 0.001);
    }

    @Test
    void whatIsLeftComesBackAsEachAlgorithmSays() {
        limits(4, 10_000, 4);
        assertEquals(List.of("0", "0", "0", "0"), lanes(burst(4), "remaining"));

        site.time().advance(Duration.ofSeconds(5));
        assertEquals(List.of("0", "0", "0", "2"), lanes(view(), "remaining"));
        site.time().advance(Duration.ofSeconds(5));
        assertEquals(List.of("4", "4", "4", "4"), lanes(view(), "remaining"));
    }

    @Test
    void aVoteIsACallOfTheLaboratoryWhetherItCountsOrNot() {
        view();
        for (int i = 0; i < 5; i++) {
            browser.post(site.port(), "/api/votes", "{\"candidate\":\"cocoa\"}");
        }
        // The laboratory begins with the limit of the vote, so both say the same.
        for (int lane = 0; lane < 4; lane++) {
            assertEquals("+++--", said(view(), lane));
        }
    }

    @Test
    void onlyWhatIsNewIsToldUntilTheRoundIsAnother() {
        JsonNode first = burst(3);
        String round = first.at("/round").asString();

        JsonNode later = ok(browser.get(site.port(), "/api/lab?round=" + round + "&after=2"));
        assertEquals(1, later.at("/arrivals").size());
        assertEquals(3, later.at("/arrivals/0/number").asLong());

        JsonNode cleared = ok(browser.post(site.port(), "/api/lab/clear", "{}"));
        assertNotEquals(round, cleared.at("/round").asString());
        assertEquals(0, cleared.at("/arrivals").size());
        assertEquals(List.of("3", "3", "3", "3"), lanes(cleared, "remaining"));

        burst(1);
        assertEquals(
                1,
                ok(browser.get(site.port(), "/api/lab?round=" + round + "&after=2"))
                        .at("/arrivals")
                        .size());
    }

    @Test
    void visitorsDoNotDisturbOneAnother() {
        Browser other = new Browser();
        ok(other.get(site.port(), "/api/lab"));
        burst(30);

        JsonNode theirs = burst(other, 1);
        assertEquals("+", said(theirs, 0));
        assertEquals(List.of("2", "2", "2", "2"), lanes(theirs, "remaining"));
        assertEquals(List.of("3", "3", "3", "3"), lanes(view(), "admitted"));
    }

    @Test
    void cookiesThatNobodyHasSetAreReplaced() {
        for (String forged :
                List.of("lab-visitor=../../etc", "lab-visitor=", "lab-limits=0-1-99999999; lab-visitor=x")) {
            Answer answer = new Browser().get(site.port(), "/api/lab", "Cookie", forged);
            assertEquals(200, answer.status());
            assertTrue(
                    answer.header("Set-Cookie").matches("lab-visitor=[0-9a-f]{32}; Path=/;.*HttpOnly; SameSite=Strict"),
                    answer.header("Set-Cookie"));
            assertEquals(3, answer.json().at("/limits/permits").asLong());
        }
    }

    @Test
    void trafficOverATimeIsMadeByTheServerUntilItIsStopped() {
        ok(browser.post(site.port(), "/api/lab/traffic", steps(0, 5, 100)));
        Await.until(Duration.ofSeconds(60), "all five have come", () -> {
            JsonNode now = view();
            return now.at("/arrivals").size() == 5 && !now.at("/running").asBoolean();
        });

        assertTrue(ok(browser.post(site.port(), "/api/lab/traffic", steps(0, 2, 180_000)))
                .at("/running")
                .asBoolean());
        assertEquals(204, browser.delete(site.port(), "/api/lab/traffic").status());
        assertEquals(false, view().at("/running").asBoolean());
        assertEquals(6, view().at("/arrivals").size());
    }

    @Test
    void theLaboratoryIsLimitedByTheCallsThatItIsAskedFor() {
        for (int i = 0; i < 3; i++) {
            ok(browser.post(site.port(), "/api/lab/traffic", steps(0, 400, 0)));
        }
        Answer denied = new Browser().post(site.port(), "/api/lab/traffic", steps(0, 400, 0));

        assertEquals(429, denied.status());
        assertEquals("20", denied.header("Retry-After"));
        assertEquals("lab-calls", denied.json().at("/violated-policies/0").asString());
        assertEquals(1_000, view().at("/arrivals").size(), "the last thousand are kept");
        assertEquals(List.of("1197", "1197", "1197", "1197"), lanes(view(), "denied"));
    }

    @Test
    void theLaboratoryIsLimitedByHowOftenItIsAsked() {
        for (int i = 0; i < 30; i++) {
            assertEquals(204, browser.delete(site.port(), "/api/lab/traffic").status(), "change " + i);
        }
        assertEquals(429, browser.delete(site.port(), "/api/lab/traffic").status());

        Answer last = browser.get(site.port(), "/api/lab");
        for (int i = 0; i < 200; i++) {
            last = browser.get(site.port(), "/api/lab");
        }
        assertEquals(429, last.status());
        assertEquals("1", last.header("Retry-After"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0 | 5000 | 10 | permits | permits is '0'; send a whole number from 1 to 10000",
                "10001 | 5000 | 10 | permits | permits is '10001'; send a whole number from 1 to 10000",
                "-1 | 5000 | 10 | permits | permits is '-1'; send a whole number from 1 to 10000",
                "10 | 499 | 10 | periodMillis | periodMillis is '499'; send a whole number from 500 to 60000",
                "10 | 60001 | 10 | periodMillis | periodMillis is '60001'; send a whole number from 500 to 60000",
                "10 | 5000 | 0 | burst | burst is '0'; send a whole number from 1 to 10000",
                "10 | 5000 | null | burst | burst is missing; send a whole number from 1 to 10000",
            })
    void limitsThatCantBeKeptAreToldAndNotSet(
            String permits, String period, String burst, String field, String message) {
        Answer wrong = browser.put(
                site.port(),
                "/api/lab/limits",
                "{\"permits\":" + permits + ",\"periodMillis\":" + period + ",\"burst\":" + burst + "}");

        assertEquals(400, wrong.status(), wrong.body());
        assertEquals(message, wrong.json().at("/detail").asString());
        assertEquals(field, wrong.json().at("/field").asString());
        assertEquals(10_000, view().at("/limits/periodMillis").asLong());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0,401,0 | calls is '401'; send a whole number from 1 to 400",
                "0,0,0 | calls is '0'; send a whole number from 1 to 400",
                "0,null,0 | calls is missing; send a whole number from 1 to 400",
                "-1,1,0 | atMillis is '-1'; send a whole number from 0 to 180000",
                "0,1,180001 | overMillis is '180001'; send a whole number from 0 to 180000",
                "1,1,180000 | the last call would come after 180001 ms; send at most 180000 for atMillis and overMillis"
                        + " together",
                "0,9223372036854775807,0 | calls is '9223372036854775807'; send a whole number from 1 to 400",
            })
    void trafficThatIsTooMuchIsToldAndNotSent(String numbers, String message) {
        String[] of = numbers.split(",", -1);
        Answer wrong = browser.post(
                site.port(),
                "/api/lab/traffic",
                "{\"steps\":[{\"atMillis\":" + of[0] + ",\"calls\":" + of[1] + ",\"overMillis\":" + of[2] + "}]}");

        assertEquals(400, wrong.status(), wrong.body());
        assertEquals(message, wrong.json().at("/detail").asString());
        assertEquals(0, view().at("/arrivals").size());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | steps has 0 entries; send from 1 to 8, such as [{\"atMillis\":0,\"calls\":60,\"overMillis\":2000}]",
                "{\"steps\":[null]} | a step is missing; leave it out, or send its numbers",
                "{\"steps\":[{\"atMillis\":0,\"calls\":300,\"overMillis\":0},{\"atMillis\":0,\"calls\":101,\"overMillis\":0}]}"
                        + " | the steps have 401 calls together; send at most 400",
            })
    void trafficThatIsNoneIsTold(String body, String message) {
        Answer wrong = browser.post(site.port(), "/api/lab/traffic", body);

        assertEquals(400, wrong.status(), wrong.body());
        assertEquals(message, wrong.json().at("/detail").asString());
    }
}
