package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An operator finds out why a member is denied. */
class MembersAtTheEndpointTest {
    private static ManagedSite site;

    @BeforeAll
    static void start() {
        site = ManagedSite.start(
                ManagedSite.StillSite.class,
                "limiter.rules.tried.path=/pages/one",
                "limiter.rules.tried.query=tried",
                "limiter.rules.tried.member=query:u",
                "limiter.rules.tried.limits=1/1h distinct",
                "limiter.rules.seats.path=/pages/one",
                "limiter.rules.seats.query=seats",
                "limiter.rules.seats.key=global",
                "limiter.rules.seats.member=query:u",
                "limiter.rules.seats.limits=1 allotment closes 2100-01-01T00:00:00Z",
                "limiter.policies.vote.limits=3/1h",
                "management.endpoints.web.exposure.include=ratelimits,ratelimitexplain");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    private static HttpResponse<String> look(String policy, String key, String member) {
        return site.call(
                "GET",
                "/actuator/ratelimits/" + policy + "?key=" + key + "&member="
                        + URLEncoder.encode(member, StandardCharsets.UTF_8));
    }

    private static HttpResponse<String> explain(String query) {
        return site.post(
                "/actuator/ratelimitexplain", "{\"path\": \"/pages/one?" + query + "\", \"address\": \"127.0.0.1\"}");
    }

    @Test
    void aMemberOfManyIsShown() {
        assertEquals(200, site.call("GET", "/pages/one?tried=1&u=ann").statusCode());
        assertEquals(429, site.call("GET", "/pages/one?tried=1&u=bob").statusCode());
        HttpResponse<String> explained = explain("tried=1&u=bob");
        String reason = read(explained, "$.*.reason").toString();
        assertTrue(reason.contains(" with the member "), reason);
        String bob = member(explained, "tried");
        String ann = member(explain("tried=1&u=ann"), "tried");
        assertFalse(bob.equals(ann));
        HttpResponse<String> denied = look("tried", "127.0.0.1", bob);
        assertEquals(false, read(denied, "$.allowed"));
        assertEquals("quota", read(denied, "$.limits[0].reason"));
        assertEquals(bob, read(denied, "$.member"));
        assertEquals(true, read(look("tried", "127.0.0.1", ann), "$.allowed"));
        assertEquals("", read(look("tried", "127.0.0.1", ""), "$.member"), "the missing one");
    }

    @Test
    void whyAStockIsRefusedIsShown() {
        assertEquals(200, site.call("GET", "/pages/one?seats=1&u=ann").statusCode());
        String ann = member(explain("seats=1&u=ann"), "seats");
        assertEquals("already-had", read(look("seats", "*", ann), "$.limits[0].reason"));
        assertEquals("sold-out", read(look("seats", "*", "u=eve"), "$.limits[0].reason"));
        assertEquals("never", read(look("seats", "*", "u=eve"), "$.retryAfter"));
    }

    @Test
    void whatIsNoMemberIsRefused() {
        assertEquals(400, look("vote", "127.0.0.1", "u=eve").statusCode(), "the policy counts none");
        assertEquals(400, look("tried", "127.0.0.1", "a b").statusCode());
    }

    private static String member(HttpResponse<String> explained, String rule) {
        return ((List<?>) read(explained, "$.*.rules[?(@.rule == '" + rule + "')].charge.member"))
                .get(0)
                .toString();
    }
}
