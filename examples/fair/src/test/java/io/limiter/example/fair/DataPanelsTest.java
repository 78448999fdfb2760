package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.FairSite.Answer;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The requests of the panels leaderboard, attendance, codes, visitors, places and notices, over HTTP. */
class DataPanelsTest {
    private static FairSite site;

    @BeforeAll
    static void start() {
        List.of("leaderboard", "attendance", "codes", "visitors", "places", "notices")
                .forEach(TestRedis::cleared);
        site = FairSite.start(
                "limiter.rules.changes.limits=100000/1s token-bucket",
                "limiter.rules.reads.limits=100000/1s token-bucket");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    @Test
    void leaderboard() {
        post("/api/leaderboard/clear", "{}");
        JsonNode voted = post("/api/leaderboard/vote", "{'voter':'me','candidate':'Cleo'}");
        assertEquals("Cleo", voted.at("/candidates/0/member").asString());
        assertEquals("Ada", voted.at("/candidates/1/member").asString());
        assertEquals(1, voted.at("/around/0/rank").asInt());
        assertRefused("/api/leaderboard/vote", "{'voter':'me','candidate':'Zoe'}", "candidate must be one of");
        assertRefused("/api/leaderboard/vote", "{'voter':'a:b','candidate':'Ada'}", "voter must have");

        JsonNode rush = post("/api/leaderboard/rush", "{'voter':'me'}");
        assertEquals(301, rush.at("/voters").asInt());
        assertEquals(
                301,
                rush.at("/segments").valueStream().mapToInt(JsonNode::asInt).sum());
        assertEquals(5, rush.at("/around").size());
        assertTrue(rush.at("/sameOrder").asBoolean());
        assertFalse(rush.at("/cleared").asBoolean());
        assertEquals(
                rush.at("/around")
                        .valueStream()
                        .filter(row -> row.at("/member").asString().equals("me"))
                        .findFirst()
                        .orElseThrow()
                        .at("/points"),
                rush.at("/points"));
        JsonNode ranks = get("/api/leaderboard/ranks?first=2&last=4");
        assertEquals(3, ranks.size());
        assertEquals(rush.at("/top/1"), ranks.get(0));
        assertEquals(400, site.get("/api/leaderboard/ranks?first=0&last=4").status());
        assertEquals(400, site.get("/api/leaderboard/ranks?first=1&last=400").status());
    }

    /** "All votes are gone" is so then: what is on its way counts nothing. */
    @Test
    void votesOfARushThatIsOnItsWayAreGoneToo() {
        post("/api/leaderboard/clear", "{}");
        CompletableFuture<JsonNode> rush =
                CompletableFuture.supplyAsync(() -> post("/api/leaderboard/rush", "{'voter':'me'}"));
        Await.until(
                Duration.ofSeconds(30),
                "it has begun",
                () -> get("/api/leaderboard?voter=me").at("/voters").asInt() > 0);
        post("/api/leaderboard/clear", "{}");
        assertEquals(0, get("/api/leaderboard?voter=me").at("/voters").asInt());

        rush.join();
        JsonNode after = get("/api/leaderboard?voter=me");
        assertEquals(0, after.at("/voters").asInt());
        assertEquals(0, after.at("/segments").size());
        assertTrue(after.at("/sameOrder").asBoolean());
        after.at("/candidates").forEach(row -> assertEquals(0, row.at("/points").asInt(), after.toString()));
    }

    @Test
    void attendance() {
        assertTrue(post("/api/attendance/sign-in", "{'member':'me','zone':'Europe/Berlin','days':0}")
                .at("/first")
                .asBoolean());
        JsonNode travelled = post("/api/attendance/travel", "{'member':'me','zone':'Europe/Berlin','days':0}");
        assertEquals(2, travelled.at("/count").asInt());
        assertEquals(
                travelled.at("/daysFromNow").asInt() + 1,
                travelled.at("/streak").asInt());
        assertEquals(
                travelled,
                get("/api/attendance?member=me&zone=Europe/Berlin&days="
                        + travelled.at("/daysFromNow").asInt()));
        assertRefused("/api/attendance/sign-in", "{'member':'me','zone':'Mars','days':0}", "zone is not known");
        assertRefused("/api/attendance/sign-in", "{'member':'me','days':-1}", "days is -1");
    }

    @Test
    void codes() {
        post("/api/codes/clear", "{}");
        String code = post("/api/codes/issue", "{}").at("/code").asString();
        String vote = "{'code':'" + code + "','candidate':'Ada'}";
        assertEquals("COUNTED", post("/api/codes/vote", vote).at("/outcome").asString());
        assertEquals(
                "ALREADY_USED", post("/api/codes/vote", vote).at("/outcome").asString());

        assertEquals(5_000, post("/api/codes/fill", "{}").at("/issued").asInt());
        assertRefused("/api/codes/issue", "{}", "room for 0 more codes");
        JsonNode guesses = post("/api/codes/guess", "{}");
        assertTrue(guesses.at("/passedFilter").asInt() > 0, guesses.toString());
        assertEquals(0, guesses.at("/counted").asInt());
        assertEquals(1, get("/api/codes").at("/tally/Ada").asInt());
    }

    @Test
    void visitors() {
        post("/api/visitors/visit", "{'visitor':'me','page':'results'}");
        post("/api/visitors/every-day", "{'visitor':'me','page':'results'}");
        JsonNode rush =
                post("/api/visitors/rush", "{'visitor':'me','page':'results'}").get(0);
        assertEquals(10_008, rush.at("/week/views").asInt());
        assertEquals(10_001, rush.at("/exactThisWeek").asInt());
        assertEquals(10_001, rush.at("/week/visitors").asInt(), 300);
        assertTrue(
                rush.at("/exactBytes").asInt() > 10 * rush.at("/estimateBytes").asInt(), rush.toString());
        assertRefused("/api/visitors/visit", "{'visitor':'me','page':'x'}", "page must be one of");
    }

    @Test
    void places() {
        JsonNode near = get("/api/places?region=dateline&east=2&north=-1");
        assertEquals("School, room A", near.at("/nearest/0/name").asString());
        assertEquals("School, room B", near.at("/nearest/1/name").asString());
        assertTrue(near.at("/longitude").asDouble() < 0, near.toString());
        for (String region : List.of("home", "dateline", "north")) {
            JsonNode compared = post("/api/places/compare", "{'region':'" + region + "','east':0,'north':0}");
            assertEquals(compared.at("/points"), compared.at("/same"), region);
        }
        JsonNode far = get("/api/places/distance?region=dateline&from=Harbour&to=Theatre");
        assertEquals(8_017, far.at("/metres").asDouble(), 40);
        assertEquals(
                400,
                site.get("/api/places/distance?region=home&from=Harbour&to=Moon")
                        .status());
        Answer pole = site.get("/api/places?region=north&east=0&north=6");
        assertEquals(400, pole.status());
        assertTrue(pole.body().contains("none at the poles"), pole.body());
        assertEquals(400, site.get("/api/places?region=moon&east=0&north=0").status());
    }

    @Test
    void notices() {
        post("/api/notices/arrive", "{'voter':'me'}");
        post("/api/notices/global", "{'title':'Poll is open'}");
        post("/api/notices/personal", "{'voter':'me','title':'Your code'}");
        assertEquals(2, get("/api/notices?voter=me").at("/queued").asInt());
        assertEquals(
                "Your code",
                post("/api/notices/deliver", "{}").at("/notice/title").asString());
        assertEquals(
                "Poll is open",
                post("/api/notices/deliver", "{}").at("/notice/title").asString());
        assertEquals(2, get("/api/notices?voter=me").at("/inbox").size());

        assertEquals(0, post("/api/notices/rush", "{}").at("/wrong").asInt());
        assertEquals(300, post("/api/notices/logins/rush", "{}").at("/waiting").asInt());
        assertEquals(300, post("/api/notices/logins/die", "{}").at("/waiting").asInt());
        assertEquals(200, post("/api/notices/logins/next", "{}").at("/waiting").asInt());
        JsonNode worked = post("/api/notices/logins/next", "{}");
        assertEquals(100, worked.at("/waiting").asInt());
        assertTrue(worked.at("/pulled").asInt() >= 2_000, worked.toString());
        JsonNode fanOut = post("/api/notices/fan-out", "{}");
        assertEquals(10_000, fanOut.at("/pipelined").asInt());
        assertEquals(
                List.of(),
                TestRedis.client()
                        .getKeys()
                        .getKeysStreamByPattern("fair:notices:drill:*")
                        .toList());
    }

    private static JsonNode get(String path) {
        Answer answer = site.get(path);
        assertEquals(200, answer.status(), answer.body());
        return answer.json();
    }

    private static JsonNode post(String path, String json) {
        Answer answer = site.post(path, json.replace('\'', '"'));
        assertEquals(200, answer.status(), answer.body());
        return answer.body().isEmpty() ? null : answer.json();
    }

    private static void assertRefused(String path, String json, String why) {
        Answer answer = site.post(path, json.replace('\'', '"'));
        assertEquals(400, answer.status(), answer.body());
        assertTrue(answer.body().contains(why), answer.body());
    }
}
