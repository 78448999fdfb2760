package io.limiter.example.fair.points;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.FairSite;
import io.limiter.example.fair.TestRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;

class PointsTest {
    private static FairSite site;

    private final String visitor = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        site = FairSite.start("limiter.rules.changes.limits=10000/1s");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    private String read(String article) {
        return site.post("/api/points/read", "{\"visitor\":\"" + visitor + "\",\"article\":\"" + article + "\"}")
                .json()
                .at("/result")
                .asString();
    }

    private long points() {
        return site.get("/api/points?visitor=" + visitor).json().at("/points").asLong();
    }

    /** The article's script returns "full" for an article that is known, once five are; and its key never ends. */
    @Test
    void aKnownArticleScoresNothingAlsoWhenAllPointsAreScored() {
        List<String> all = site.bean(Articles.class).all();
        for (String article : all.subList(0, 5)) {
            assertEquals("scored", read(article));
            assertEquals("again", read(article));
        }
        assertEquals("enough", read(all.get(5)));
        assertEquals("again", read(all.get(0)));
        assertEquals(5, points());
        site.get("/api/redis/points").json().at("/keys").forEach(key -> {
            long ttl = key.at("/ttlSeconds").asLong();
            assertTrue(ttl > 0 && ttl <= 86_400, key.toString());
        });

        site.post("/api/points/tomorrow", "{\"visitor\":\"" + visitor + "\",\"article\":\"\"}");
        assertEquals(0, points());
        assertEquals("scored", read(all.get(5)));
    }

    @Test
    void oneArticleAtOnceFromTwentyTabsIsOnePoint() {
        List<CompletableFuture<String>> tabs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            tabs.add(CompletableFuture.supplyAsync(() -> read("tea-a-history")));
        }
        assertEquals(1, tabs.stream().filter(tab -> tab.join().equals("scored")).count());
        assertEquals(1, points());
    }

    /** As `SADD`, then `EXPIRE` do: the set of a visitor who never comes back would stay for ever. */
    @Test
    void anInstanceThatDiesAtAPointLeavesNoSetWithoutAnEnd() {
        RBucket<String> set = TestRedis.client().getBucket("fair:points:read:" + visitor);
        Crash.afterEachCommand(
                set::delete,
                redisson -> assertEquals(1, new Articles(redisson).score(visitor, "tea-a-history")),
                commands -> assertNotEquals(-1, set.remainTimeToLive(), "after " + commands + " commands"));
        assertTrue(set.remainTimeToLive() > 0);
    }

    @Test
    void anArticleThatDoesNotExistTakesNoPlace() {
        for (int i = 0; i < 6; i++) {
            assertEquals(
                    400,
                    site.post("/api/points/read", "{\"visitor\":\"" + visitor + "\",\"article\":\"none-" + i + "\"}")
                            .status());
        }
        assertEquals("scored", read("tea-a-history"));
    }
}
