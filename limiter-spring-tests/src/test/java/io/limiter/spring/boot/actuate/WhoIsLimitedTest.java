package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.ManualTime;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.boot.actuate.ManagedSite.Jobs;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** From a denial in the log to whose it is, why, and for how long, by what the actuator answers over HTTP. */
class WhoIsLimitedTest {
    private static final String API_KEY = "k3y of Ann";
    private static final Pattern LINE =
            Pattern.compile("RL-405 denied: rule (\\S+), policy (\\S+), limit '(.+)', key (\\S+),"
                    + " wait (\\S+), source in-process; denials not logged since the last line: \\d+");

    private static BootSite site;
    private static LogLines log;

    @BeforeAll
    static void start() {
        site = BootSite.start(
                ManagedSite.StillSite.class,
                "limiter.denials.log-per-second=1000",
                "limiter.denials.keys=50",
                "limiter.plans.free.limits=2/10s",
                "limiter.plans.gold.limits=5/10s",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.key=header:X-Api-Key",
                "limiter.rules.pages.plan=header:X-Plan",
                "limiter.rules.pages.default-plan=free",
                "limiter.rules.tried.path=/pages/*",
                "limiter.rules.tried.shadow=true",
                "limiter.rules.tried.limits=1000/1h",
                "limiter.rules.members.path=/members/*",
                "limiter.rules.members.key=user",
                "limiter.rules.members.exempt.roles=ops",
                "limiter.rules.members.limits=1/1h",
                "limiter.rules.spray.path=/pages/one",
                "limiter.rules.spray.query=spray",
                "limiter.rules.spray.member=query:u",
                "limiter.rules.spray.limits=1/1h distinct",
                "limiter.rules.seats.path=/pages/one",
                "limiter.rules.seats.query=seats",
                "limiter.rules.seats.key=global",
                "limiter.rules.seats.member=query:u",
                "limiter.rules.seats.limits=1 allotment closes 2100-01-01T00:00:00Z",
                "limiter.policies.vote.limits=1/1h",
                "management.endpoints.web.exposure.include=ratelimits,ratelimitexplain");
        log = new LogLines("io.limiter.Denials", Level.INFO);
    }

    @AfterAll
    static void stop() {
        log.close();
        site.close();
    }

    /** The lines with this text, of which another thread writes so many. */
    private static List<String> logged(String text, int lines) {
        Await.until(lines + " of " + text, () -> log.of(Level.INFO, text).size() >= lines);
        return log.of(Level.INFO, text);
    }

    private static HttpResponse<String> explain(String body) {
        return site.post("/actuator/ratelimitexplain", body);
    }

    @Test
    void fromALineOfTheLogToKeyRuleReasonAndWaitInThreeCalls() {
        for (int i = 0; i < 4; i++) {
            int status = site.call("GET", "/pages/one", "X-Api-Key", API_KEY).statusCode();
            assertEquals(i < 2 ? 200 : 429, status);
            site.bean(ManualTime.class).advance(Duration.ofMillis(500));
        }
        // The first one's: a second within a millisecond of it has none.
        List<String> lines = logged("RL-405 denied: rule pages", 1);
        Matcher line = LINE.matcher(lines.get(0));
        assertTrue(line.matches(), lines.toString());
        String policy = line.group(2);
        String key = line.group(4);
        assertEquals("pages", line.group(1));
        assertEquals("pages.free", policy);
        assertEquals("PT9S", line.group(5));

        HttpResponse<String> busiest = site.call("GET", "/actuator/ratelimits/denied");
        Map<String, Object> found = ((List<Map<String, Object>>) read(busiest, "$.keys"))
                .stream()
                        .filter(one ->
                                one.get("key").equals(key) && one.get("policy").equals(policy))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(busiest.body()));
        assertEquals(List.of("pages"), found.get("rules"));
        assertEquals(2, found.get("denied"));
        assertEquals(false, found.get("shadow"));
        assertEquals(line.group(3), found.get("limit"));
        assertTrue(
                Duration.parse((String) found.get("retryAfter")).compareTo(Duration.ofMillis(8_500)) <= 0, "" + found);

        HttpResponse<String> explained =
                explain("{\"path\": \"/pages/one\", \"address\": \"127.0.0.1\", \"headers\": \"x-api-key: " + API_KEY
                        + "\\nX-Other: 1\"}");
        assertEquals(200, explained.statusCode(), explained.body());
        String first = "$.['io.limiter.spring.rateLimitFilter']";
        assertEquals(false, read(explained, first + ".admitted"));
        assertEquals(429, (Integer) read(explained, first + ".status"));
        assertEquals("PT8S", read(explained, first + ".retryAfter"));
        assertEquals(
                "policy 'pages.free' denies the key " + key + " by its limit " + line.group(3),
                read(explained, first + ".reason"));
        String pages = first + ".rules[?(@.rule == 'pages')].charge";
        assertEquals(List.of("free"), read(explained, pages + ".plan"));
        assertEquals(List.of(key), read(explained, pages + ".key"));
        assertEquals(List.of("shadow"), read(explained, first + ".rules[?(@.rule == 'tried')].mode"));

        HttpResponse<String> looked = site.key("GET", policy, key);
        assertEquals("PT8S", read(looked, "$.retryAfter"));
        for (String text : List.of(log.toString(), busiest.body(), explained.body(), looked.body())) {
            assertFalse(text.contains("k3y"), text);
        }
    }

    @Test
    void annotatedMethodsAreNamedAndShadowDenialsAreMarked() {
        Jobs jobs = site.bean(Jobs.class);
        jobs.send("eve\r\nRL-405 denied: rule x", 2);
        assertThrows(RateLimitExceededException.class, () -> jobs.send("eve\r\nRL-405 denied: rule x", 1));
        for (int i = 0; i < 6; i++) {
            jobs.watch();
        }
        String send = Jobs.class.getName() + ".send(String, int)";
        List<String> lines = logged("RL-405 denied: rule " + send, 1);
        assertTrue(lines.get(0).contains(" key key=eve%0D%0ARL-405%20denied%3A%20rule%20x,"), lines.toString());
        HttpResponse<String> busiest = site.call("GET", "/actuator/ratelimits/denied?most=50");
        assertEquals(List.of(send), read(busiest, "$.keys[?(@.policy == 'Jobs.send')].rules[0]"));
        assertEquals(List.of(true), read(busiest, "$.keys[?(@.policy == 'watched')].shadow"));
        assertEquals(0, (Integer) read(site.call("GET", "/actuator/ratelimits/denied?most=0"), "$.keys.length()"));
        assertEquals(404, site.key("GET", "denied", "192.0.2.1").statusCode());
    }

    /** Before Spring Security there is no user, whatever is in the sample; after it there is. */
    @Test
    void usersAreKnownToTheFilterBehindSpringSecurityOnly() {
        HttpResponse<String> explained =
                explain("{\"path\": \"/members/1\", \"address\": \"192.0.2.1\", \"user\": \"ann\"}");
        String second = "$.['io.limiter.spring.rateLimitUserFilter']";
        assertEquals("user=ann", read(explained, second + ".rules[0].charge.key"));
        assertEquals("192.0.2.1", read(explained, second + ".client"));
        HttpResponse<String> exempt = explain(
                "{\"path\": \"/members/1\", \"address\": \"192.0.2.1\", \"user\": \"ann\", \"roles\": \"dev, ops\"}");
        assertEquals("limiter.rules.members.exempt has the caller", read(exempt, second + ".rules[0].why"));
    }

    @Test
    void whatIsNoRequestIsRefused() {
        for (String body : List.of(
                "{\"path\": \"/a\"}",
                "{\"path\": \"a\", \"address\": \"192.0.2.1\"}",
                "{\"path\": \"/a\", \"address\": \"localhost\"}",
                "{\"path\": \"/a\", \"address\": \"192.0.2.1\", \"headers\": \"nothing\"}")) {
            assertEquals(400, explain(body).statusCode(), body);
        }
    }

    private static HttpResponse<String> look(String policy, String key, String member) {
        return site.call(
                "GET",
                "/actuator/ratelimits/" + policy + "?key=" + key + "&member="
                        + URLEncoder.encode(member, StandardCharsets.UTF_8));
    }

    private static String member(String rule, String query) {
        HttpResponse<String> explained =
                explain("{\"path\": \"/pages/one?" + query + "\", \"address\": \"127.0.0.1\"}");
        return ((List<?>) read(explained, "$.*.rules[?(@.rule == '" + rule + "')].charge.member"))
                .get(0)
                .toString();
    }

    @Test
    void aMemberOfManyIsShown() {
        assertEquals(200, site.call("GET", "/pages/one?spray=1&u=ann").statusCode());
        assertEquals(429, site.call("GET", "/pages/one?spray=1&u=bob").statusCode());
        HttpResponse<String> explained =
                explain("{\"path\": \"/pages/one?spray=1&u=bob\", \"address\": \"127.0.0.1\"}");
        String reason = read(explained, "$.*.reason").toString();
        assertTrue(reason.contains(" with the member "), reason);
        String bob = member("spray", "spray=1&u=bob");
        HttpResponse<String> denied = look("spray", "127.0.0.1", bob);
        assertEquals(false, read(denied, "$.allowed"));
        assertEquals("quota", read(denied, "$.limits[0].reason"));
        assertEquals(bob, read(denied, "$.member"));
        String ann = member("spray", "spray=1&u=ann");
        assertEquals(true, read(look("spray", "127.0.0.1", ann), "$.allowed"));
        assertEquals("", read(look("spray", "127.0.0.1", ""), "$.member"), "the missing one");
        assertEquals(400, look("vote", "127.0.0.1", "u=eve").statusCode(), "the policy counts none");
        assertEquals(400, look("spray", "127.0.0.1", "a b").statusCode());
    }

    @Test
    void whyAStockIsRefusedIsShown() {
        assertEquals(200, site.call("GET", "/pages/one?seats=1&u=ann").statusCode());
        String ann = member("seats", "seats=1&u=ann");
        assertEquals("already-had", read(look("seats", "*", ann), "$.limits[0].reason"));
        assertEquals("sold-out", read(look("seats", "*", "u=eve"), "$.limits[0].reason"));
        assertEquals("never", read(look("seats", "*", "u=eve"), "$.retryAfter"));
    }
}
