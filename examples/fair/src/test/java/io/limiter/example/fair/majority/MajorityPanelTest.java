package io.limiter.example.fair.majority;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.FairSite;
import io.limiter.example.fair.FairSite.Answer;
import io.limiter.example.fair.TestRedis;
import io.limiter.kit.Await;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a visitor sees who stops and starts the servers of the lock. */
@Tag("long")
class MajorityPanelTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private FairSite site;

    @Test
    void twoOfThreeServersAreEnoughAndServersWithoutDataGiveItAway() {
        TestRedis.cleared("majority");
        try (FairSite started = FairSite.start("limiter.rules.reads.limits=100000/1s token-bucket")) {
            site = started;
            assertEquals(
                    400, site.post("/api/majority/lock", "{\"holder\":\"you\"}").status());
            does("start", "you", true, "Three servers run");
            assertEquals(
                    400, site.post("/api/majority/lock", "{\"holder\":\"x\"}").status());

            does("lock", "you", true, "You hold 3 of 3");
            does("lock", "the rival", false, "no majority");
            does("write", "the rival", false, "no tokens");
            does("write", "you", true, "Written");
            assertEquals("1 votes", view().at("/result").asString());
            assertEquals("you", view().at("/servers/0/holder").asString());

            does("stop", "you", true, "server2 is killed; 2 of 3 run");
            does("unlock", "you", true, "Unlocked");
            does("lock", "the rival", true, "The rival holds 2 of 3");
            does("write", "the rival", true, "Written");
            does("stop", "you", true, "server1 is killed; 1 of 3 run");
            does("lock", "you", false, "no majority");

            does("start", "you", true, "Started without data: server1 and server2");
            Await.until(
                    LONG,
                    "both are found again",
                    () -> view().at("/servers/1/up").asBoolean()
                            && view().at("/servers/2/up").asBoolean());
            assertTrue(view().at("/trusts/1/millis").asLong() > 0, "the rival trusts its lock");
            does("lock", "you", true, "You hold 2 of 3");
            assertTrue(view().at("/trusts/0/millis").asLong() > 0, "and so do you");
            assertEquals("the rival", view().at("/servers/0/holder").asString());
        }
    }

    private JsonNode view() {
        return site.get("/api/majority").json();
    }

    private void does(String what, String holder, boolean good, String text) {
        Answer answer = site.post("/api/majority/" + what, "{\"holder\":\"" + holder + "\"}");
        assertEquals(200, answer.status(), answer.body());
        assertTrue(answer.json().at("/text").asString().contains(text), answer.body());
        assertEquals(good, answer.json().at("/good").asBoolean(), answer.body());
    }
}
