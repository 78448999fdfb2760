package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.internal.config.ChargeOptions;
import io.limiter.internal.config.ChargeOptions.RulePlans;
import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RequestCost;
import io.limiter.internal.config.RuleDefinition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
        return config(more.length == 2 ? Map.of(more[0], more[1]) : Map.of(more[0], more[1], more[2], more[3]))
                .settings()
                .rules()
                .get(0)
                .charging();
    }

    @Test
    void textIsReadAsWritten() {
        ChargeOptions usual = charging("limiter.rules.r.key", "ip");
        assertEquals(RequestCost.of(1), usual.cost());
        assertNull(usual.outcomes());
        assertEquals(Duration.ZERO, usual.maxWait());
        ChargeOptions five = charging("limiter.rules.r.cost", "5", "limiter.rules.r.count-on", "401, 5XX, 401");
        assertEquals(RequestCost.of(5), five.cost());
        assertEquals(new CountedOutcomes(true, List.of("401", "5xx")), five.outcomes());
        assertEquals(
                RequestCost.ofHeader("X-Size", 10),
                charging("limiter.rules.r.cost", "header:X-Size max 10").cost());
        ChargeOptions byClass =
                charging("limiter.rules.r.cost", "com.example.MyCost", "limiter.rules.r.refund-on", "304");
        assertEquals(RequestCost.ofClass("com.example.MyCost"), byClass.cost());
        assertEquals(new CountedOutcomes(false, List.of("304")), byClass.outcomes());
    }

    private static LimiterConfig members(String limits, String... more) {
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .property("f", 1, "limiter.rules.r.path", "/x/{id}")
                .property("f", 2, "limiter.rules.r.limits", limits);
        for (int i = 0; i < more.length; i += 2) {
            builder.property("f", i + 3, "limiter.rules.r." + more[i], more[i + 1]);
        }
        return builder.build();
    }

    @Test
    void aMemberIsWrittenLikeAKey() {
        RuleDefinition rule = members("5/1h distinct", "member", "header:X-User + path:id")
                .settings()
                .rules()
                .get(0);
        assertEquals(
                List.of(new KeyPart(KeyPart.Kind.HEADER, "X-User"), new KeyPart(KeyPart.Kind.PATH, "id")),
                rule.charging().member());
        assertEquals(RuleDefinition.Position.BEFORE_AUTHENTICATION, rule.position());
        rule = members("5/1h distinct, 100/1d", "member", "user", "cost", "0")
                .settings()
                .rules()
                .get(0);
        assertEquals(RuleDefinition.Position.AFTER_AUTHENTICATION, rule.position());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "5/1h | header:X-User | - | - | RL-163",
                "5/1h distinct | - | - | - | RL-164",
                "5/1h distinct, 9/1d | - | - | - | RL-164",
                "5/1h distinct | global | - | - | nothing to count",
                "5/1h distinct | path:no | - | - | no variable {no}",
                "5/1h distinct | user + user | - | - | occurs twice",
                "5/1h distinct | name | - | - | is not a key",
                "5/1h distinct, 100/1d | header:X-User | cost | 2 | RL-165",
                "5/1h distinct | header:X-User | cost | com.example.MyCost | RL-165",
                "5/1h distinct | header:X-User | wait | 1s | RL-106",
                "5/1h distinct | user | position | before-authentication | RL-146",
                "5/1h distinct | header:X-User | membr | ip | limiter.rules.r.member"
            })
    void aMemberThatDoesNotFitFailsStartup(String limits, String member, String more, String value, String message) {
        List<String> all = new ArrayList<>(member == null ? List.of() : List.of("member", member));
        all.addAll(more == null ? List.of() : List.of(more, value));
        String said = assertThrows(ConfigException.class, () -> members(limits, all.toArray(String[]::new)))
                .getMessage();
        assertTrue(said.contains(message), said);
    }

    @Test
    void aWaitIsUpToAMinute() {
        assertEquals(
                Duration.ofMillis(500),
                charging("limiter.rules.r.wait", "500ms").maxWait());
        for (String wrong : List.of("0ms", "61s", "soon", "500")) {
            String message = assertThrows(ConfigException.class, () -> charging("limiter.rules.r.wait", wrong))
                    .getMessage();
            assertTrue(message.contains("RL-104 limiter.rules.r.wait"), message);
        }
        String near = assertThrows(ConfigException.class, () -> charging("limiter.rules.r.wiat", "1s"))
                .getMessage();
        assertTrue(near.contains("limiter.rules.r.wait"), near);
        String bound = assertThrows(ConfigException.class, () -> charging("limiter.wait.max-waiting", "0"))
                .getMessage();
        assertTrue(bound.contains("limiter.wait.max-waiting"), bound);
    }

    private static boolean keeps(CountedOutcomes outcomes, int status) {
        return outcomes.keeps(status, header -> List.of(), attribute -> null);
    }

    private static boolean keepsLocation(String outcome, String... values) {
        return new CountedOutcomes(true, List.of(outcome))
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
                new CountedOutcomes(true, List.of("attribute:login.failed", "attribute:login.kind=bad*"));
        assertTrue(attribute.keeps(200, header -> List.of(), name -> name.equals("login.failed") ? true : null));
        assertTrue(attribute.keeps(200, header -> List.of(), name -> name.equals("login.kind") ? "bad one" : null));
        assertFalse(attribute.keeps(200, header -> List.of(), name -> name.equals("login.kind") ? "good" : null));
        assertFalse(new CountedOutcomes(false, List.of("attribute:ok")).keeps(200, header -> List.of(), name -> "yes"));
    }

    /** A client may write a part of a header, such as of an address after a login. */
    @Test
    void aPatternTakesOnePass() {
        CountedOutcomes outcomes = new CountedOutcomes(true, List.of("header:Location=*a*a*a*a*a*b"));
        String location = "a".repeat(8_000);
        assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertFalse(outcomes.keeps(302, header -> List.of(location), attribute -> null)));
    }

    @Test
    void whichStatusesCount() {
        CountedOutcomes counted = new CountedOutcomes(true, List.of("401", "5xx"));
        assertTrue(keeps(counted, 401) && keeps(counted, 500) && keeps(counted, 599));
        assertFalse(keeps(counted, 200) || keeps(counted, 400) || keeps(counted, 600));
        CountedOutcomes refunded = new CountedOutcomes(false, List.of("304", "4xx"));
        assertTrue(keeps(refunded, 200) && keeps(refunded, 303) && keeps(refunded, 500));
        assertFalse(keeps(refunded, 304) || keeps(refunded, 499));
        assertEquals("refund-on = 304, 4xx", refunded.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "count-on | 601 | RL-104 | '601' is not an outcome; write statuses",
                "count-on | 4x | RL-104 | '4x' is not an outcome",
                "count-on | 401,,403 | RL-104 | '' is not an outcome",
                "count-on | header:Loca tion | RL-104 | 'header:Loca tion' is not an outcome",
                "count-on | header:Location= | RL-104 | 'header:Location=' is not an outcome",
                "count-on | header: | RL-104 | 'header:' is not an outcome",
                "count-on | Location=*error* | RL-104 | 'Location=*error*' is not an outcome",
                "count-on | attribute:login failed | RL-104 | 'attribute:login failed' is not an outcome",
                "refund-on | not-modified | RL-104 | 'not-modified' is not an outcome",
                "cost | -1 | RL-104 | not a number of permits from 0 to",
                "cost | 5 apples | RL-104 | not a number of permits",
                "cost | 9999999999999999999 | RL-104 | not a number of permits",
                "cost | header: max 5 | RL-104 | '' is not a header",
                "cost | header:X-Size | RL-105 | write header:X-Size max 100",
                "cost | my cost | RL-104 | not a cost; write a number of permits, header:X-Batch-Size",
                "cost | 11 | RL-165 | '10/1h sliding-list name r-1h' of policy 'r' grants at most 10 at once",
                "count-one | 401 | RL-101 | did you mean 'limiter.rules.r.count-on'?",
            })
    void theMessageSaysWhatToWrite(String property, String value, String code, String words) {
        String message = assertThrows(
                        ConfigException.class,
                        () -> config(Map.of("limiter.rules.r." + property, value == null ? "" : value)))
                .getMessage();
        assertTrue(message.contains(code) && message.contains(words), message);
    }

    @Test
    void twoWaysThatContradict() {
        String both = assertThrows(
                        ConfigException.class,
                        () -> charging("limiter.rules.r.count-on", "401", "limiter.rules.r.refund-on", "304"))
                .getMessage();
        assertTrue(both.contains("RL-106") && both.contains("keep one of the two"), both);
        String cap = assertThrows(ConfigException.class, () -> charging("limiter.rules.r.cost", "header:X max 0"))
                .getMessage();
        assertTrue(cap.contains("RL-104") && cap.contains("limiter.rules.r.cost"), cap);
    }

    private static final String[] GOLD = {"limiter.plans.free.limits", "1/1m", "limiter.plans.gold.limits", "9/1m"};

    private static LimiterConfig plans(String... more) {
        LimiterConfig.Builder builder = LimiterConfig.builder().property("f", 1, "limiter.rules.api.path", "/x");
        for (String[] all : new String[][] {GOLD, more}) {
            for (int i = 0; i < all.length; i += 2) {
                builder.property("f", 2 + i, all[i], all[i + 1]);
            }
        }
        return builder.build();
    }

    @Test
    void thePoliciesOfPlansAreOrdinaryOnes() {
        LimiterConfig config = plans(
                "limiter.rules.api.plan", "header:X-Plan",
                "limiter.rules.api.default-plan", "free",
                "limiter.rules.api.on-failure", "deny");
        RuleDefinition rule = config.settings().rules().get(0);
        assertEquals(
                List.of("api.free", "api.gold"), List.copyOf(config.policies().keySet()));
        assertEquals("api.free", rule.policy().name());
        assertEquals(FailureMode.DENY, config.policies().get("api.gold").onFailure());
        RulePlans plans = rule.charging().plans();
        assertEquals("header:X-Plan", String.valueOf(plans));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "header:X-Plan | default-plan | fre | RL-169 | did you mean 'free'?",
                "header:X-Plan | key | ip | RL-105 | add limiter.rules.api.default-plan = free",
                "header:X Plan | default-plan | free | RL-104 | is not a source of plans; write header:X-Plan, user:plan",
                "my plans | default-plan | free | RL-104 | is not a source of plans",
                "header:X-Plan | limits | 5/1m | RL-106 | has plans, which have the limits",
                "header:X-Plan | policy | p | RL-106 | has plans, which have the limits",
            })
    void aPlanThatIsWrong(String plan, String property, String value, String code, String words) {
        String message = assertThrows(
                        ConfigException.class,
                        () -> plans("limiter.rules.api.plan", plan, "limiter.rules.api." + property, value))
                .getMessage();
        assertTrue(message.contains(code) && message.contains(words), message);
    }

    @Test
    void whatBelongsToPlans() {
        for (String[] wrong : new String[][] {
            {"RL-105", "limiter.rules.api.default-plan", "free", "limiter.rules.api.limits", "1/1m"},
            {"RL-104", "limiter.plans.a.b.limits", "1/1m", "limiter.rules.api.limits", "1/1m"},
            {"RL-104", "limiter.plans.a.limits", "none", "limiter.rules.api.limits", "1/1m"},
            {"RL-104", "limiter.plan-lookup.wait", "11s", "limiter.rules.api.limits", "1/1m"},
            {"RL-104", "limiter.plan-lookup.expiry", "10ms", "limiter.rules.api.limits", "1/1m"},
            {"RL-104", "limiter.plan-lookup.max-entries", "0", "limiter.rules.api.limits", "1/1m"},
            {"RL-101", "limiter.plan-lookup.waits", "1s", "limiter.rules.api.limits", "1/1m"},
            {
                "RL-170",
                "limiter.rules.api.plan",
                "com.example.Plans",
                "limiter.rules.api.default-plan",
                "free",
                "limiter.rules.api.key",
                "global"
            },
            {
                "RL-170",
                "limiter.rules.api.plan",
                "com.example.Plans",
                "limiter.rules.api.default-plan",
                "free",
                "limiter.rules.api.key",
                "class:com.example.ByTenant"
            },
            {
                "RL-106",
                "limiter.rules.api.shadow",
                "true",
                "limiter.rules.api.limits",
                "1/1m",
                "limiter.rules.api.count-on",
                "401"
            },
        }) {
            String message = assertThrows(
                            ConfigException.class, () -> plans(Arrays.copyOfRange(wrong, 1, wrong.length)))
                    .getMessage();
            assertTrue(message.contains(wrong[0]), message);
        }
    }

    /** A limit of 0 denies everything on purpose, whatever it costs. */
    @Test
    void aCostThatNoRequestCanPay() {
        assertEquals(
                RequestCost.of(5),
                charging("limiter.rules.r.limits", "0/1h", "limiter.rules.r.cost", "5")
                        .cost());
        String message = assertThrows(
                        ConfigException.class,
                        () -> charging("limiter.rules.r.limits", "4/1h fixed", "limiter.rules.r.cost", "5"))
                .getMessage();
        assertTrue(message.contains("RL-165 limiter.rules.r.cost = 5: no request could ever be allowed"), message);
    }
}
