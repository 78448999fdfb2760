package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.jayway.jsonpath.JsonPath;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.boot.actuate.ManagedSite.Jobs;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The endpoint of an application whose state is in this JVM, over HTTP. */
class EndpointTest {
    private static BootSite site;
    private static Limiter limiter;

    @BeforeAll
    static void start() {
        site = BootSite.start(
                ManagedSite.StillSite.class,
                "limiter.policies.vote.limits=3/10s, 100/1h fixed",
                "limiter.policies.login.limits=5/1m",
                "limiter.policies.login.on-failure=deny",
                "limiter.policies.login.deadline=20ms",
                "limiter.policies.nobody.limits=0/1h",
                "limiter.policies.tried.limits=1/1m fixed",
                "limiter.policies.tried.block=3/10m for 15m up to 24h",
                "limiter.rules.pages.path=/pages/*, /other",
                "limiter.rules.pages.methods=GET, POST",
                "limiter.rules.pages.key=ip + header:X-Api-Key",
                "limiter.rules.pages.policy=vote",
                "limiter.rules.pages.except=/pages/free",
                "limiter.exempt.addresses=192.0.2.0/24",
                "limiter.exempt.roles=ops",
                "limiter.deny.addresses=198.51.100.7",
                "limiter.rules.all.path=/all/*",
                "limiter.rules.all.shadow=true",
                "limiter.rules.all.key=global",
                "limiter.rules.all.limits=1000/1s fixed",
                "management.endpoints.web.exposure.include=ratelimits,health",
                "management.endpoint.ratelimits.access=unrestricted",
                "management.endpoint.health.show-details=always");
        limiter = site.bean(Limiter.class);
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    @BeforeEach
    void anHourLater() {
        site.bean(ManualTime.class).advance(Duration.ofHours(1));
    }

    @Test
    void whatIsLimitedAndHowItHasGone() {
        Jobs jobs = site.bean(Jobs.class);
        jobs.send("a", 2);
        assertThrows(RateLimitExceededException.class, () -> jobs.send("a", 1));
        jobs.watch();
        assertEquals(200, site.call("GET", "/pages/one").statusCode());

        HttpResponse<String> report = site.call("GET", "/actuator/ratelimits");
        assertEquals(200, report.statusCode());
        assertEquals("in-process", read(report, "$.backend.kind"));
        assertEquals(Map.of(), read(report, "$.backend.servers"));
        assertEquals(List.of(), read(report, "$.backend.findings"));
        assertEquals(
                Map.of("unavailable", 0, "late", 0, "overloaded", 0, "fault", 0), read(report, "$.backend.failures"));

        assertEquals(
                List.of("3/10s sliding-list name vote-10s", "100/1h fixed name vote-1h"),
                read(report, "$.policies.vote.limits"));
        assertEquals("local", read(report, "$.policies.vote.onFailure"));
        assertEquals("configuration", read(report, "$.policies.vote.definedBy"));
        assertEquals(0, (Integer) read(report, "$.policies.vote.decisions.in-process.denied"));
        assertEquals("deny", read(report, "$.policies.login.onFailure"));
        assertEquals("PT0.02S", read(report, "$.policies.login.deadline"));
        assertEquals(Map.of(), read(report, "$.policies.all.decisions"));
        assertEquals(List.of("1000/1s fixed name all"), read(report, "$.policies.all.limits"));

        String send = Jobs.class.getName() + ".send(String, int)";
        assertEquals(List.of("2/1h sliding-list name Jobs.send"), read(report, "$.policies.['Jobs.send'].limits"));
        assertEquals(send, read(report, "$.policies.['Jobs.send'].definedBy"));
        assertEquals(Map.of("allowed", 1, "denied", 1), read(report, "$.policies.['Jobs.send'].decisions.in-process"));
        assertEquals(1, (Integer) read(report, "$.policies.watched.decisions.in-process.allowed"));

        assertEquals(json("""
                {
                    "name": "pages", "paths": ["/pages/*", "/other"], "methods": ["GET", "POST"], "headers": [], "query": [],
                    "except": ["/pages/free"], "exempt": {"addresses": [], "users": [], "roles": []}, "isDefault": false,
                    "position": "before-authentication", "mode": "enforced", "key": "ip + header:X-Api-Key", "cost": "1",
                    "policy": "vote", "plan": null, "outcomes": null, "settle": null, "unused": null
                }\
                """), read(report, "$.rules[0]"));
        assertEquals("shadow", read(report, "$.rules[1].mode"));
        assertEquals("no request has matched it", read(report, "$.rules[1].unused"));
        assertEquals(json("""
                {
                    "exempt": {"addresses": ["192.0.2.0/24"], "users": [], "roles": ["ops"]},
                    "denied": ["198.51.100.7/32"], "deniedStatus": 403
                }\
                """), read(report, "$.callers"));
        assertEquals(
                List.of("RL-155 rule 'all' only counts and denies nothing; remove limiter.rules.all.shadow = true to"
                        + " enforce it"),
                read(report, "$.uncounted"));
        assertEquals("global", read(report, "$.rules[1].key"));

        assertEquals(json("""
                {
                    "method": "%s", "policy": "Jobs.send", "key": "#account", "permits": "#size", "condition": "#size > 0",
                    "shadow": false, "settle": null
                }\
                """.formatted(send)), read(report, "$.methods[1]"));
        assertEquals(true, read(report, "$.methods[2].shadow"));
        assertEquals("ip", read(report, "$.methods[0].key"));
        assertEquals(3, (Integer) read(report, "$.methods.length()"));
    }

    @Test
    void policiesThatOnlyCodeMakesAreKnownByTheirDecisions() {
        limiter.rateLimiter()
                .tryAcquire(
                        io.limiter.Policy.of("made-by-code", io.limiter.Limit.fixedWindow(1, Duration.ofHours(1))),
                        PartitionKey.of("secret-client"),
                        1);
        HttpResponse<String> report = site.call("GET", "/actuator/ratelimits");
        assertEquals("code", read(report, "$.policies.made-by-code.definedBy"));
        assertEquals(List.of(), read(report, "$.policies.made-by-code.limits"));
        assertEquals(1, (Integer) read(report, "$.policies.made-by-code.decisions.in-process.allowed"));
        assertFalse(report.body().contains("secret-client"), report.body());
    }

    @Test
    void aKeyThatNobodyMakesIsTold() {
        for (String wrong : List.of("a", "account=a", "192.0.2.1", "*")) {
            HttpResponse<String> seen = site.key("GET", "Jobs.send", wrong);
            assertEquals(true, read(seen, "$.allowed"));
            String note = read(seen, "$.note");
            Facts.toldInOneLine(note, "rule", "annotation", "'Jobs.send'", "key=<text>");
            assertEquals(note, read(site.key("DELETE", "Jobs.send", wrong), "$.note"));
        }
        assertNull(read(site.key("GET", "Jobs.send", "key=a"), "$.note"));
        assertNull(read(site.key("DELETE", "Jobs.send", "key=a"), "$.note"));

        for (String one : List.of("192.0.2.1", "192.0.2.1:header.x-api-key=k", "192.0.2.1:@192.0.2.1")) {
            assertNull(read(site.key("GET", "vote", one), "$.note"), one);
        }
        Facts.toldInOneLine(
                read(site.key("GET", "vote", "user=a"), "$.note"),
                "'vote'",
                "<address> ",
                "<address>:header.x-api-key=<secret>");
        assertNull(read(site.key("GET", "all", "*"), "$.note"));
        assertNull(read(site.key("GET", "login", "user=a"), "$.note"), "charged by code, if at all");

        HttpResponse<String> none = site.call("GET", "/actuator/ratelimits/vote");
        assertEquals(400, none.statusCode());
        assertTrue(none.body().contains("?key="), none.body());
    }

    @Test
    void aKeyIsLookedAtAndNothingIsTaken() {
        for (int i = 0; i < 2; i++) {
            limiter.tryAcquire("vote", PartitionKey.of("192.0.2.1"), 1);
            site.bean(ManualTime.class).advance(Duration.ofSeconds(1));
        }
        String before = limiter.rateLimiter().monitor().toString();
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> seen = site.key("GET", "vote", "192.0.2.1");
            assertEquals(200, seen.statusCode(), seen.body());
            assertEquals("192.0.2.1", read(seen, "$.key"));
            assertEquals("in-process", read(seen, "$.source"));
            assertEquals(true, read(seen, "$.allowed"));
            assertEquals("PT0S", read(seen, "$.retryAfter"));
            assertEquals(json("""
                    {
                        "name": "vote-10s", "limit": "3/10s sliding-list name vote-10s", "allowed": true, "remaining": 1,
                        "reason": null, "retryAfter": "PT0S", "next": "PT8S", "reset": "PT9S"
                    }\
                    """), read(seen, "$.limits[0]"));
            assertEquals(98, (Integer) read(seen, "$.limits[1].remaining"));
        }
        assertEquals(before, limiter.rateLimiter().monitor().toString());

        limiter.tryAcquire("vote", PartitionKey.of("192.0.2.1"), 1);
        HttpResponse<String> full = site.key("GET", "vote", "192.0.2.1");
        assertEquals(false, read(full, "$.allowed"));
        assertEquals("PT8S", read(full, "$.retryAfter"));
        assertEquals(0, (Integer) read(full, "$.limits[0].remaining"));
        assertEquals("PT8S", read(full, "$.limits[0].retryAfter"));
        assertEquals("quota", read(full, "$.limits[0].reason"));
        assertEquals(97, (Integer) read(full, "$.limits[1].remaining"));
        assertEquals("never", read(site.key("GET", "nobody", "*"), "$.retryAfter"));
    }

    @Test
    void aKeyGetsItsWholeQuotaAgain() {
        PartitionKey alice =
                PartitionKey.builder().add("key", "alice@example.com").build();
        limiter.tryAcquire("login", alice, 5);
        assertEquals(0, (Integer) read(site.key("GET", "login", alice.canonical()), "$.limits[0].remaining"));
        HttpResponse<String> reset = site.key("DELETE", "login", alice.canonical());
        assertEquals(200, reset.statusCode(), reset.body());
        assertEquals("key=alice%40example.com", read(reset, "$.key"));
        assertEquals(List.of("key=alice@example.com"), read(reset, "$.parts"));
        assertEquals(5, (Integer) read(site.key("GET", "login", alice.canonical()), "$.limits[0].remaining"));
    }

    @Test
    void aBlockIsShownAndLifted() {
        PartitionKey key = PartitionKey.of("192.0.2.1");
        for (int i = 0; i < 5; i++) {
            limiter.tryAcquire("tried", key, 1);
        }
        String shown = site.key("GET", "tried", "192.0.2.1").body();
        assertTrue(shown.contains("3/10m block for 15m up to 1d name block"), shown);
        assertTrue(shown.contains("PT15M") && shown.contains("\"allowed\":false"), shown);
        FunctionCounter blocked = site.bean(MeterRegistry.class)
                .get("limiter.blocked")
                .tag("policy", "tried")
                .functionCounter();
        assertEquals(2, blocked.count());
        assertEquals(200, site.key("DELETE", "tried", "192.0.2.1").statusCode());
        assertTrue(limiter.tryAcquire("tried", key, 1).allowed());
    }

    @Test
    void whatIsNotThereIsSaid() {
        for (String method : List.of("GET", "DELETE")) {
            HttpResponse<String> noPolicy = site.key(method, "vot", "192.0.2.1");
            assertEquals(404, noPolicy.statusCode());
            String error = read(noPolicy, "$.error");
            Facts.toldInOneLine(error, "'vot'", "vote", "Jobs.send");

            HttpResponse<String> noKey = site.key(method, "vote", "alice@example.com");
            assertEquals(400, noKey.statusCode());
            assertTrue(((String) read(noKey, "$.error")).contains("--data-urlencode"), noKey.body());
            assertEquals(400, site.call(method, "/actuator/ratelimits/vote").statusCode());
        }
    }

    @Test
    void thisJvmHasNoHealthOfItsOwn() {
        HttpResponse<String> health = site.call("GET", "/actuator/health");
        assertEquals(200, health.statusCode());
        assertTrue(health.body().contains("diskSpace"), health.body());
        assertFalse(health.body().contains("ratelimits"), health.body());
    }

    @Test
    void overHttpOnlyWhereItIsExposed() {
        try (BootSite other = BootSite.start(ManagedSite.Site.class, "limiter.policies.vote.limits=3/10s")) {
            assertEquals(404, other.call("GET", "/actuator/ratelimits").statusCode());
            assertEquals(0, other.context().getBeanNamesForType(RateLimitsEndpoint.class).length);
        }
        try (BootSite other = BootSite.start(
                ManagedSite.Site.class,
                "limiter.policies.vote.limits=3/10s",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.policy=vote",
                "limiter.rules.secret.path=/secret/*",
                "limiter.rules.secret.policy=vote",
                "limiter.rules.secret.headers=X-Kind, X-Token=hunter2",
                "limiter.rules.secret.query=token=hunter2",
                "management.endpoints.web.exposure.include=ratelimits,ratelimitexplain")) {
            HttpResponse<String> report = other.call("GET", "/actuator/ratelimits");
            assertTrue(report.body().contains("[\"X-Kind\",\"X-Token=***\"]"), report.body());
            assertTrue(report.body().contains("[\"token=***\"]"), report.body());
            assertEquals(200, other.key("GET", "vote", "192.0.2.1").statusCode());
            assertEquals(405, other.key("DELETE", "vote", "192.0.2.1").statusCode(), "who may look gets no quota back");
            assertEquals(405, other.call("POST", "/actuator/ratelimits").statusCode());
            HttpResponse<String> explained =
                    other.post("/actuator/ratelimitexplain", "{\"path\": \"/pages/one\", \"address\": \"192.0.2.1\"}");
            assertEquals(200, explained.statusCode(), explained.body());
        }
    }

    private static Object json(String text) {
        return JsonPath.read(text, "$");
    }
}
