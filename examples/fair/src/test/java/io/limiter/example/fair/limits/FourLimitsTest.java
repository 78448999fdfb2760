package io.limiter.example.fair.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.FairSite;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class FourLimitsTest {
    @Test
    void aRushGetsTenOfEachOfTheFourOnTwoInstancesTogether() {
        try (FairSite one = FairSite.start(
                        "limiter.policies.limits-fixed.limits=10/1h fixed",
                        "limiter.policies.limits-list.limits=10/1h sliding-list",
                        "limiter.policies.limits-zset.limits=10/1h sliding-zset",
                        "limiter.policies.limits-bucket.limits=10/1h token-bucket");
                FairSite other = FairSite.start(
                        "limiter.policies.limits-fixed.limits=10/1h fixed",
                        "limiter.policies.limits-list.limits=10/1h sliding-list",
                        "limiter.policies.limits-zset.limits=10/1h sliding-zset",
                        "limiter.policies.limits-bucket.limits=10/1h token-bucket")) {
            String visitor = UUID.randomUUID().toString();

            for (JsonNode state : rush(one, visitor, 6)) {
                assertEquals(6, state.at("/allowed").asLong(), state.toString());
                assertEquals(4, state.at("/remaining").asLong(), state.toString());
            }
            for (JsonNode state : rush(other, visitor, 50)) {
                assertEquals(4, state.at("/allowed").asLong(), state.toString());
                assertEquals(46, state.at("/denied").asLong(), state.toString());
                assertEquals(0, state.at("/remaining").asLong(), state.toString());
                assertTrue(state.at("/nextMillis").asLong() > 0, state.toString());
            }
            assertEquals(400, one.post("/api/limits/rush", body(visitor, 501)).status());
        }
    }

    @Test
    void theSceneOfTheFrontPageAdmitsThreeOfTheScriptAndEverybodyElse() {
        try (FairSite site = FairSite.start("limiter.policies.vote.limits=3/1h")) {
            long script = 0;
            for (JsonNode vote : site.post("/api/limits/evening", "{}").json()) {
                boolean counts = vote.at("/counts").asBoolean();
                if (vote.at("/voter").asString().equals("script")) {
                    script += counts ? 1 : 0;
                } else {
                    assertTrue(counts, vote.toString());
                }
            }
            assertEquals(3, script);
        }
    }

    private static JsonNode rush(FairSite site, String visitor, int calls) {
        return site.post("/api/limits/rush", body(visitor, calls)).json();
    }

    private static String body(String visitor, int calls) {
        return "{\"visitor\":\"" + visitor + "\",\"calls\":" + calls + "}";
    }
}
