package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Two of the site on one Redis, by the command line that the examples' page has for it. */
@Tag("long")
class TwoInstancesTest {
    private static final String TEA = "{\"candidate\":\"tea\"}";

    private static Site startOnRedis() throws IOException {
        String command = Files.readString(Path.of("../README.md"))
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("mvn -Psite package -Dlimiter."))
                .findFirst()
                .orElseThrow();
        // The answer must be that of Redis, however slow this machine is.
        return Site.start(Pattern.compile("-D(\\S+)")
                .matcher(command.replace("redis://127.0.0.1:6379", RedisServers.single())
                        + " -Dlimiter.redis.deadline=30s -Dlimiter.redis.startup-wait=60s")
                .results()
                .map(property -> property.group(1))
                .toArray(String[]::new));
    }

    private static List<String> lanes(JsonNode view, String field) {
        List<String> values = new ArrayList<>();
        view.at("/lanes").forEach(lane -> values.add(lane.at("/" + field).asString()));
        return values;
    }

    @Test
    void theyShareTheLimits() throws Exception {
        try (Site one = startOnRedis();
                Site other = startOnRedis()) {
            Browser browser = new Browser();

            assertEquals(200, browser.post(one.port(), "/api/votes", TEA).status());
            assertEquals(200, browser.post(other.port(), "/api/votes", TEA).status());
            assertEquals(200, browser.post(one.port(), "/api/votes", TEA).status());
            assertEquals(429, browser.post(other.port(), "/api/votes", TEA).status());
            assertEquals(429, browser.post(one.port(), "/api/votes", TEA).status());

            // A period that is long against the test's run.
            browser.put(one.port(), "/api/lab/limits", "{\"permits\":5,\"periodMillis\":60000,\"burst\":5}");
            browser.post(one.port(), "/api/lab/traffic", "{\"steps\":[{\"atMillis\":0,\"calls\":4,\"overMillis\":0}]}");
            Await.until(
                    "all four have been decided",
                    () -> browser.get(one.port(), "/api/lab")
                                    .json()
                                    .at("/arrivals")
                                    .size()
                            == 4);

            JsonNode seen = browser.get(other.port(), "/api/lab").json();
            assertEquals("redis", seen.at("/backend").asString());
            assertNotEquals(
                    browser.get(one.port(), "/api/lab").json().at("/instance").asString(),
                    seen.at("/instance").asString());
            assertEquals(5, seen.at("/limits/permits").asLong(), "the limits come with the visitor");
            assertEquals(List.of("1", "1", "1", "1"), lanes(seen, "remaining"));
            assertEquals(List.of("REDIS", "REDIS", "REDIS", "REDIS"), lanes(seen, "source"));
            assertEquals(0, seen.at("/arrivals").size(), "what is drawn is what came here");

            browser.post(
                    other.port(), "/api/lab/traffic", "{\"steps\":[{\"atMillis\":0,\"calls\":2,\"overMillis\":0}]}");
            Await.until(
                    "both have been decided",
                    () -> browser.get(other.port(), "/api/lab")
                                    .json()
                                    .at("/arrivals")
                                    .size()
                            == 2);
            assertEquals(
                    List.of("1", "1", "1", "1"),
                    lanes(browser.get(other.port(), "/api/lab").json(), "admitted"));
        }
    }
}
