package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.internal.config.ChargeOptions;
import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RequestCost;
import io.limiter.internal.config.RuleDefinition;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a rule charges, and which responses keep it. */
class ChargingTest {
    private static LimiterConfig config(Map<String, String> more) {
        return LimiterConfig.builder()
                .property("f", 1, "limiter.rules.r.path", "/x")
                .property("f", 2, "limiter.rules.r.limits", "10/1h, 100/1d token-bucket burst 50")
                .properties("f", more)
                .build();
    }

    private static ChargeOptions charging(String... more) {
        LimiterConfig config =
                config(more.length == 2 ? Map.of(more[0], more[1]) : Map.of(more[0], more[1], more[2], more[3]));
        return config.settings().rules().get(0).charging();
    }

    @Test
    void textIsReadAsWritten() {
        ChargeOptions usual = charging("limiter.rules.r.key", "ip");
        assertEquals(RequestCost.of(1), usual.cost());
        assertNull(usual.outcomes());
        assertEquals(Duration.ZERO, usual.maxWait());
        ChargeOptions five = charging("limiter.rules.r.cost", "5", "limiter.rules.r.count-on", "401, 5XX, 401");
        assertEquals(RequestCost.of(5), five.cost());
        assertEquals(CountedOutcomes.of(true, List.of("401", "5xx")), five.outcomes());
        assertEquals(
                new RequestCost(10, "X-Size", null, null),
                charging("limiter.rules.r.cost", "header:X-Size max 10").cost());
        ChargeOptions byClass =
                charging("limiter.rules.r.cost", "com.example.MyCost", "limiter.rules.r.refund-on", "304");
        assertEquals(new RequestCost(1, null, "com.example.MyCost", null), byClass.cost());
        assertEquals(CountedOutcomes.of(false, List.of("304")), byClass.outcomes());
    }

    private static RuleDefinition members(String limits, String... more) {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .property("f", 1, "limiter.rules.r.path", "/x/{id}")
                .property("f", 2, "limiter.rules.r.limits", limits);
        for (int i = 0; i < more.length; i += 2) {
            builder.property("f", i + 3, "limiter.rules.r." + more[i], more[i + 1]);
        }
        return builder.build().settings().rules().get(0);
    }

    @Test
    void aMemberIsWrittenLikeAKey() {
        RuleDefinition rule = members("5/1h distinct", "member", "header:X-User + path:id");
        assertEquals(
                List.of(new KeyPart(KeyPart.Kind.HEADER, "X-User"), new KeyPart(KeyPart.Kind.PATH, "id")),
                rule.charging().member());
        assertEquals(RuleDefinition.Position.BEFORE_AUTHENTICATION, rule.position());
        rule = members("5/1h distinct, 100/1d", "member", "user", "cost", "0");
        assertEquals(RuleDefinition.Position.AFTER_AUTHENTICATION, rule.position());
    }

    @Test
    void aWaitIsUpToAMinute() {
        assertEquals(
                Duration.ofMillis(500),
                charging("limiter.rules.r.wait", "500ms").maxWait());
    }

    private static boolean keeps(CountedOutcomes outcomes, int status) {
        return outcomes.keeps(status, header -> List.of(), attribute -> null);
    }

    private static boolean keepsLocation(String outcome, String... values) {
        return CountedOutcomes.of(true, List.of(outcome))
                .keeps(302, header -> header.equals("Location") ? List.of(values) : List.of(), attribute -> null);
    }

    @Test
    void whichHeadersAndAttributesCount() {
        assertTrue(keepsLocation("header:Location=*/login?error*", "http://localhost/login?error"));
        assertTrue(keepsLocation("header:Location=*/login?error*", "/", "/login?error&x\n"));
        assertFalse(keepsLocation("header:Location=*/login?error*", "/", "/login", "/loginXerror"));
        assertFalse(keepsLocation("header:Location=error", "/login?error"));
        assertTrue(keepsLocation("header:Location=a*ab*ba", "aab--ba") && keepsLocation("header:Location=**", ""));
        assertFalse(keepsLocation("header:Location=ab*ba", "aba") || keepsLocation("header:Location=*a*b", "ba"));
        assertTrue(keepsLocation("header:Location", "") && !keepsLocation("header:Location"));
        CountedOutcomes attribute =
                CountedOutcomes.of(true, List.of("attribute:login.failed", "attribute:login.kind=bad*"));
        assertTrue(attribute.keeps(200, header -> List.of(), name -> name.equals("login.failed") ? true : null));
        assertTrue(attribute.keeps(200, header -> List.of(), name -> name.equals("login.kind") ? "bad one" : null));
        assertFalse(attribute.keeps(200, header -> List.of(), name -> name.equals("login.kind") ? "good" : null));
        assertFalse(CountedOutcomes.of(false, List.of("attribute:ok")).keeps(200, header -> List.of(), name -> "yes"));
    }

    /** A client may write a part of a header, such as of an address after a login. */
    @Test
    void aPatternTakesOnePass() {
        CountedOutcomes outcomes = CountedOutcomes.of(true, List.of("header:Location=*a*a*a*a*a*b"));
        String location = "a".repeat(8_000);
        assertTimeoutPreemptively(
                Duration.ofSeconds(60),
                () -> assertFalse(outcomes.keeps(302, header -> List.of(location), attribute -> null)));
    }

    @Test
    void whichStatusesCount() {
        CountedOutcomes counted = CountedOutcomes.of(true, List.of("401", "5xx"));
        assertTrue(keeps(counted, 401) && keeps(counted, 500) && keeps(counted, 599));
        assertFalse(keeps(counted, 200) || keeps(counted, 400) || keeps(counted, 600));
        CountedOutcomes refunded = CountedOutcomes.of(false, List.of("304", "4xx"));
        assertTrue(keeps(refunded, 200) && keeps(refunded, 303) && keeps(refunded, 500));
        assertFalse(keeps(refunded, 304) || keeps(refunded, 499));
        assertEquals("refund-on = 304, 4xx", refunded.toString());
    }

    /**
     * Lines of rule r, or whole ones, beside a path, limits and two plans, of which - takes one away; and what the message contains.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            count-on = 601 | RL-104 ~ '601' is not an outcome; write statuses
            count-on = 4x | RL-104 ~ '4x' is not an outcome
            count-on = 401,,403 | RL-104 ~ '' is not an outcome
            count-on = header:Loca tion | RL-104 ~ 'header:Loca tion' is not an outcome
            count-on = header:Location= | RL-104 ~ 'header:Location=' is not an outcome
            count-on = header: | RL-104 ~ 'header:' is not an outcome
            count-on = Location=*error* | RL-104 ~ 'Location=*error*' is not an outcome
            count-on = attribute:login failed | RL-104 ~ 'attribute:login failed' is not an outcome
            refund-on = not-modified | RL-104 ~ 'not-modified' is not an outcome
            count-on = 401 ~ refund-on = 304 | RL-106 ~ keep one of the two
            count-one = 401 | RL-101 ~ did you mean 'limiter.rules.r.count-on'?
            cost = -1 | RL-104 ~ not a number of permits from 0 to
            cost = 5 apples | RL-104 ~ not a number of permits
            cost = 9999999999999999999 | RL-104 ~ not a number of permits
            cost = header: max 5 | RL-104 ~ '' is not a header
            cost = header:X max 0 | RL-104 ~ limiter.rules.r.cost
            cost = header:X-Size | RL-105 ~ write header:X-Size max 100
            cost = my cost | RL-104 ~ not a cost; write a number of permits, header:X-Batch-Size
            cost = 11 | RL-165 ~ '10/1h sliding-list name r-1h' of policy 'r' grants at most 10 at once
            cost = 5 ~ limits = 4/1h fixed | RL-165 limiter.rules.r.cost = 5: no request could ever be allowed
            wait = 0ms | RL-104 limiter.rules.r.wait
            wait = 61s | RL-104 limiter.rules.r.wait
            wait = soon | RL-104 limiter.rules.r.wait
            wait = 500 | RL-104 limiter.rules.r.wait
            wiat = 1s | limiter.rules.r.wait
            limiter.wait.max-waiting = 0 | limiter.wait.max-waiting
            limits = 5/1h ~ member = header:X-User | RL-163
            limits = 5/1h distinct | RL-164
            limits = 5/1h distinct, 9/1d | RL-164
            limits = 5/1h distinct ~ member = global | nothing to count
            limits = 5/1h distinct ~ member = path:no | no variable {no}
            limits = 5/1h distinct ~ member = user + user | occurs twice
            limits = 5/1h distinct ~ member = name | is not a key
            limits = 5/1h distinct, 100/1d ~ member = header:X-User ~ cost = 2 | RL-165
            limits = 5/1h distinct ~ member = header:X-User ~ cost = com.example.MyCost | RL-165
            limits = 5/1h distinct ~ member = header:X-User ~ wait = 1s | RL-106
            limits = 5/1h distinct ~ member = user ~ position = before-authentication | RL-146
            limits = 5/1h distinct ~ member = header:X-User ~ membr = ip | limiter.rules.r.member
            limits = - ~ plan = header:X-Plan ~ default-plan = fre | RL-169 ~ did you mean 'free'?
            limits = - ~ plan = header:X-Plan ~ key = ip | RL-105 ~ add default-plan = free
            limits = - ~ plan = header:X Plan ~ default-plan = free | RL-104 ~ is not a source of plans; write header:X-Plan, user:plan
            limits = - ~ plan = my plans ~ default-plan = free | RL-104 ~ is not a source of plans
            limits = 5/1m ~ plan = header:X-Plan ~ default-plan = free | RL-106 ~ has plans, which have the limits
            limits = - ~ plan = header:X-Plan ~ default-plan = free ~ policy = p | RL-106 ~ has plans, which have the limits
            default-plan = free | RL-105
            limits = - ~ plan = com.example.Plans ~ default-plan = free ~ key = global | RL-170
            limits = - ~ plan = com.example.Plans ~ default-plan = free ~ key = class:com.example.ByTenant | RL-170
            shadow = true ~ count-on = 401 | RL-106
            limiter.plans.a.b.limits = 1/1m | RL-104
            limiter.plans.a.limits = none | RL-104
            limiter.plan-lookup.wait = 11s | RL-104
            limiter.plan-lookup.expiry = 10ms | RL-104
            limiter.plan-lookup.max-entries = 0 | RL-104
            limiter.plan-lookup.waits = 1s | RL-101
            limits = 9/1h fixed ~ holds = 0 ~ settle = attribute:a | RL-182
            limits = 9/1h ~ settle = attribute:a | add limiter.rules.r.holds = 1000
            limits = 9/1h ~ holds = 9 ~ settle = attribute:a | RL-181 ~ write fixed or token-bucket
            limits = 9/1h fixed ~ holds = 9 ~ settle = attribute:a ~ wait = 1s | RL-106 ~ remove the wait
            limits = 9/1h fixed ~ holds = 9 ~ settle = attribute:a ~ shadow = true | RL-106 ~ until the rule is enforced
            limits = 9/1h fixed ~ holds = 9 ~ settle = attribute:a ~ cost = 0 | RL-106 ~ nothing is reserved at a cost of 0
            limits = 9/1h fixed ~ holds = 9 ~ settle = X-Used-Tokens | response-header:X-Used-Tokens
            limits = 9/1h fixed ~ holds = 9 ~ settle = header:X-Used-Tokens | response-header:X-Used-Tokens
            limits = 9/1h fixed ~ holds = 9 ~ settle = attribute:a ~ settle-within = 100ms | settle-within
            cost = header:X min 1 default 5 | RL-105 ~ needs a cap
            cost = header:X min 0 max 5 | header:X-Max-Tokens min 400 max 4000
            cost = header:X max 5 default 6 | header:X-Max-Tokens min 400 max 4000
            cost = header:X max 5 min | header:X-Max-Tokens min 400 max 4000
            block = 20 | RL-176
            block = 20/10m | RL-176
            block = 20/10m for 15m | RL-176
            block = 20/10m for 15m up to 10m | RL-176
            block = 0/10m for 15m up to 24h | RL-176
            block = 20/10 m for 15m up to 24h | RL-176
            block = x/10m for 15m up to 24h | RL-176
            block = 20/10m for ever up to 24h | RL-176
            block = 20/10m sliding-list for 15m up to 24h | RL-176
            block = 20/10m for 15m up to 24h ~ wait = 1s | RL-177
            blok = 20/10m for 15m up to 24h | limiter.rules.r.block
            limiter.policies.b.block = 20/10m for 15m up to 24h | RL-105
            limiter.policies.b.limits = 20/10m block | a line of its own
            """)
    void theMessageSaysWhatToWrite(String lines, String words) {
        Map<String, String> all = new LinkedHashMap<>(GOLD);
        all.put("limiter.rules.r.path", "/x/{id}");
        all.put("limiter.rules.r.limits", "10/1h, 100/1d token-bucket burst 50");
        for (String line : lines.split(" ~ ")) {
            String[] pair = line.split(" = ", 2);
            all.put(pair[0].startsWith("limiter.") ? pair[0] : "limiter.rules.r." + pair[0], pair[1]);
        }
        all.values().remove("-");
        LimiterConfig.Builder text = LimiterConfig.builder().properties("f", all);
        String message = assertThrows(ConfigException.class, text::build).getMessage();
        for (String word : words.split(" ~ ")) {
            assertTrue(message.contains(word), message);
        }
    }

    /** A map in order: a message names the first plan. */
    private static final Map<String, String> GOLD =
            new TreeMap<>(Map.of("limiter.plans.free.limits", "1/1m", "limiter.plans.gold.limits", "9/1m"));

    @Test
    void thePoliciesOfPlansAreOrdinaryOnes() {
        LimiterConfig config = LimiterConfig.builder()
                .properties("f", GOLD)
                .property("f", 1, "limiter.rules.api.path", "/x")
                .property("f", 2, "limiter.rules.api.plan", "header:X-Plan")
                .property("f", 3, "limiter.rules.api.default-plan", "free")
                .property("f", 4, "limiter.rules.api.on-failure", "deny")
                .build();
        RuleDefinition rule = config.settings().rules().get(0);
        assertEquals(Set.of("api.free", "api.gold"), config.policies().keySet());
        assertEquals("api.free", rule.policy().name());
        assertEquals(FailureMode.DENY, config.policies().get("api.gold").onFailure());
        assertEquals("header:X-Plan", String.valueOf(rule.charging().plans()));
    }

    /** A limit of 0 denies everything on purpose, whatever it costs. */
    @Test
    void aCostThatNoRequestCanPay() {
        assertEquals(
                RequestCost.of(5),
                charging("limiter.rules.r.limits", "0/1h", "limiter.rules.r.cost", "5")
                        .cost());
    }
}
