package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.Facts;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import redis.clients.jedis.Jedis;

/** Endpoint and health of an application with its state in a real Redis, which becomes unreachable and recovers. */
class RedisSiteTest {
    private static final PartitionKey CLIENT = PartitionKey.of("192.0.2.1");

    private static BootSite start(Wire wire, String... more) {
        String[] properties = {
            // Only what finds out that Redis is unreachable gives up soon.
            "limiter.policies.probe.limits=1000/1h",
            "limiter.policies.probe.deadline=50ms",
            "limiter.instances=2",
            "limiter.policies.vote.limits=10/1h",
            "limiter.policies.open.limits=10/1h",
            "limiter.policies.open.on-failure=allow",
            "management.endpoints.web.exposure.include=ratelimits,health",
            "management.endpoint.ratelimits.access=unrestricted",
            "management.endpoint.health.show-details=always"
        };
        return ManagedSite.onRedis(wire.port(), "" + UUID.randomUUID(), properties, more);
    }

    private static void isAway(BootSite site) {
        Limiter limiter = site.bean(Limiter.class);
        Await.until("Redis is unreachable", () -> {
            limiter.tryAcquire("probe", PartitionKey.of("somebody"), 1);
            return limiter.rateLimiter().monitor().health().isAway();
        });
    }

    @Test
    void whatGoesOnWithoutRedisStaysUp() throws Exception {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                BootSite site = start(wire)) {
            String server = "Redis at 127.0.0.1:" + wire.port();
            site.bean(Limiter.class).tryAcquire("vote", CLIENT, 4);
            HttpResponse<String> seen = site.key("GET", "vote", "192.0.2.1");
            assertEquals("redis", read(seen, "$.source"));
            assertEquals(6, (Integer) read(seen, "$.limits[0].remaining"));
            assertFalse(seen.body().contains("RL-"), seen.body());
            HttpResponse<String> health = site.call("GET", "/actuator/health");
            assertEquals("UP", read(health, "$.components.ratelimits.status"));
            assertEquals(List.of(), read(health, "$.components.ratelimits.details.denied"));
            assertEquals(Map.of(server, "answers"), read(health, "$.components.ratelimits.details.servers"));

            wire.cut();
            isAway(site);
            health = site.call("GET", "/actuator/health");
            assertEquals(200, health.statusCode(), health.body());
            assertEquals("UP", read(health, "$.components.ratelimits.status"));
            assertEquals(List.of(), read(health, "$.components.ratelimits.details.denied"));
            assertEquals(Map.of(server, "away"), read(health, "$.components.ratelimits.details.servers"));
            HttpResponse<String> report = site.call("GET", "/actuator/ratelimits");
            assertEquals("redis", read(report, "$.backend.kind"));
            assertEquals(Map.of(server, "away"), read(report, "$.backend.servers"));
            List<String> findings = read(report, "$.backend.findings");
            Facts.told(String.join("; ", findings), "RL-225", server);

            seen = site.key("GET", "vote", "192.0.2.1");
            assertEquals(200, seen.statusCode());
            assertEquals("local-fallback", read(seen, "$.source"));
            assertEquals(5, (Integer) read(seen, "$.limits[0].remaining"), "of this instance's share");
            Facts.told(read(seen, "$.note"), "RL-225", server, "instance's share");
            seen = site.key("GET", "open", "192.0.2.1");
            assertEquals(503, seen.statusCode());
            assertEquals("failed-open", read(seen, "$.source"));
            Facts.told(read(seen, "$.note"), "RL-225", server, "unknown");
            HttpResponse<String> reset = site.key("DELETE", "vote", "192.0.2.1");
            assertEquals(503, reset.statusCode());
            Facts.toldInOneLine(read(reset, "$.error"), "RL-225", server);

            wire.repair();
            Await.until(
                    "Redis has recovered",
                    () -> !site.bean(Limiter.class)
                            .rateLimiter()
                            .monitor()
                            .health()
                            .isAway());
            assertEquals(6, (Integer) read(site.key("GET", "vote", "192.0.2.1"), "$.limits[0].remaining"));
            assertEquals(200, site.key("DELETE", "vote", "192.0.2.1").statusCode());
            assertEquals(10, (Integer) read(site.key("GET", "vote", "192.0.2.1"), "$.limits[0].remaining"));
        }
    }

    private static String assertDown(BootSite site) {
        HttpResponse<String> health = site.call("GET", "/actuator/health");
        assertEquals(503, health.statusCode(), health.body());
        assertEquals("DOWN", read(health, "$.components.ratelimits.status"));
        assertEquals(List.of("login"), read(health, "$.components.ratelimits.details.denied"));
        return health.body();
    }

    /** Redis answers, and every caller of a policy that denies gets 503: health reports it, with the code. Then Redis is away. */
    @Test
    void whatDeniesIsDownWhereRedisRefusesToDecideAndWithoutIt() throws Exception {
        try (OwnRedis server = OwnRedis.start();
                Wire wire = Wire.to(server.port);
                Jedis redis = server.jedis();
                BootSite site =
                        start(wire, "limiter.policies.login.limits=5/1m", "limiter.policies.login.on-failure=deny")) {
            assertEquals(200, site.call("GET", "/actuator/health").statusCode());
            redis.configSet("maxmemory", "1");
            Limiter limiter = site.bean(Limiter.class);
            Await.until(
                    "login is denied",
                    () -> limiter.tryAcquire("login", PartitionKey.of("x"), 1).source()
                            == Decision.Source.FAILED_CLOSED);
            String refused = assertDown(site);
            assertTrue(refused.contains("RL-204"), refused);
            redis.configSet("maxmemory", "0");
            Await.until(
                    "it is up again", () -> site.call("GET", "/actuator/health").statusCode() == 200);
            wire.cut();
            isAway(site);
            assertDown(site);
            wire.repair();
        }
    }

    @Test
    void noHealthWhereItIsSwitchedOff() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(LimiterAutoConfiguration.class, LimiterActuatorAutoConfiguration.class))
                .withPropertyValues(
                        "limiter.redis.address=" + RedisServers.single(),
                        "limiter.redis.startup-wait=60s",
                        "management.health.ratelimits.enabled=false")
                .run(context -> assertFalse(context.containsBean("ratelimitsHealthIndicator")));
    }
}
