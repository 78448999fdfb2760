package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.control.Control;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.spring.boot.BootSite;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The endpoint of operators, in an application on a real Redis. */
class ControlEndpointTest {
    private static final String PATH = "/actuator/ratelimitcontrol";
    private final String group = UUID.randomUUID().toString();

    private BootSite start(String... more) {
        String[] properties = {
            "limiter.control.group=" + group,
            "limiter.control.secret=0123456789abcdef",
            "limiter.policies.vote.limits=2/1h",
            "management.endpoints.web.exposure.include=ratelimitcontrol,ratelimits,health,metrics",
            "management.endpoint.health.show-details=always"
        };
        return ManagedSite.onRedis(RedisServers.singlePort(), group, properties, more);
    }

    @Test
    void publishesOverridesAndSwitchesWhereWritingIsAllowed() {
        try (BootSite site = start("management.endpoint.ratelimitcontrol.access=unrestricted")) {
            Limiter limiter = site.bean(Limiter.class);
            assertAnswer(
                    200,
                    site,
                    "{\"command\":\"publish --based 0 --note sale\",\"text\":\"limiter.policies.vote.limits ="
                            + " 20/1h\"}");
            Await.until(
                    "in force", () -> limiter.policy("vote").limits().toString().contains("20/1h"));
            assertAnswer(
                    409, site, "{\"command\":\"publish --based 0\",\"text\":\"limiter.policies.vote.limits = 3/1h\"}");
            String until = Instant.now()
                    .plusSeconds(3_600)
                    .truncatedTo(ChronoUnit.SECONDS)
                    .toString();
            assertAnswer(200, site, "{\"command\":\"set policy:vote user:alice --to blocked --until " + until + "\"}");
            assertAnswer(200, site, "{\"command\":\"set policy:vote --to off --until " + until + "\"}");
            Await.until("both in force", () -> inForce(limiter) == 2);
            HttpResponse<String> looked = site.call("GET", "/actuator/ratelimits/vote?key=user=alice");
            assertEquals(200, looked.statusCode(), looked.body());
            assertEquals("an operator's override or switch decides; RL-509", read(looked, "$.note"));
            HttpResponse<String> seen = site.call("GET", PATH);
            assertEquals(3, (Integer) read(seen, "$.version"));
            assertEquals("published version 1 line 1", read(seen, "$.origins['limiter.policies.vote.limits']"));
            assertEquals(2, (Integer) read(seen, "$.entries.length()"), seen.body());
            assertEquals(3, (Integer) read(seen, "$.versions.length()"), seen.body());
            assertEquals(1, (Integer) read(seen, "$.instances.length()"), seen.body());
            assertTrue(
                    seen.body().contains("from property source \\\"commandLineArgs\\\""),
                    "where Boot has a property: " + seen.body());
            HttpResponse<String> health = site.call("GET", "/actuator/health");
            assertTrue(health.body().contains("RL-509 in force: policy:vote off"), health.body());
            HttpResponse<String> gauge = site.call("GET", "/actuator/metrics/limiter.control.switches");
            assertEquals(1.0, read(gauge, "$.measurements[0].value"), gauge.body());
            HttpResponse<String> answer = site.post(PATH, "{\"command\":\"remove policy:vote\"}");
            assertEquals("policy:vote: off until " + until + " -> nothing", read(answer, "$.lines[0]"));
            answer = site.post(PATH, "{\"command\":\"roll-back 1\"}");
            assertEquals("published version 5", read(answer, "$.lines[0]"));
            assertAnswer(400, site, "{\"command\":\"set all --to off\"}");
            assertAnswer(400, site, "{\"command\":\"publish --based 5\",\"text\":\"limiter.polices.x.limits = 1/1s\"}");
            Await.until("blocked only", () -> inForce(limiter) == 1);
            PartitionKey alice = PartitionKey.builder().add("user", "alice").build();
            assertTrue(limiter.tryAcquire("vote", alice, 1).blocked());
        }
    }

    private static void assertAnswer(int status, BootSite site, String command) {
        HttpResponse<String> answer = site.post(PATH, command);
        assertEquals(status, answer.statusCode(), answer.body());
    }

    private static long inForce(Limiter limiter) {
        return Control.inForce(limiter, true) + Control.inForce(limiter, false);
    }

    @Test
    void readsOnlyUnlessWritingIsAllowed() {
        try (BootSite site = start()) {
            assertEquals(200, site.call("GET", PATH).statusCode());
            assertEquals(405, site.post(PATH, "{\"command\":\"roll-back 1\"}").statusCode());
        }
    }

    /** What somebody has published must not keep an application from starting. */
    @Test
    void aTextThatDoesNotFitTheAnnotationsOfAnApplicationIsTakenOutOfForce() {
        String watched = "limiter.policies.watched.limits = 5/1h\nlimiter.policies.vote.limits = 20/1h\n";
        try (BootSite first = start()) {
            Control.of(first.bean(Limiter.class)).orElseThrow().publish(watched, "alice", "", 0);
            try (BootSite site = start()) {
                Limiter limiter = site.bean(Limiter.class);
                Await.until(
                        "it says why",
                        () -> limiter.rateLimiter()
                                .monitor()
                                .health()
                                .findings()
                                .toString()
                                .contains("RL-505"));
                assertTrue(limiter.policy("vote").limits().toString().contains("[2/1h"));
            }
        }
    }

    @Test
    void withoutAGroup() {
        try (BootSite site = BootSite.start(
                ManagedSite.Site.class,
                "limiter.policies.vote.limits=2/1h",
                "management.endpoints.web.exposure.include=ratelimitcontrol")) {
            assertEquals(404, site.call("GET", PATH).statusCode());
        }
    }
}
