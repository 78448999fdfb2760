package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What differs between two configurations, as the log shows it. */
class ChangesTest {
    /** Every key of the configuration that can change without a restart, with a value and another one. */
    @Test
    void whatDiffersIsNamedInTheWordsOfTheConfiguration() {
        Map<String, String> base = new LinkedHashMap<>();
        for (String line : """
                policies.p.limits=3/1h
                policies.s.limits=100 allotment each 2
                policies.s.closes=2030-03-01T00:00Z
                plans.free.limits=2/1m
                rules.r.path=/r/{id}
                rules.r.key=ip
                rules.r.limits=3/1h
                rules.q.path=/q
                rules.q.plan=header:X-Plan
                rules.q.default-plan=free
                rules.m.path=/m
                rules.m.limits=3/1h distinct
                rules.m.member=header:X-User
                """.split("\n")) {
            base.put("limiter." + line.split("=")[0], line.split("=", 2)[1]);
        }
        for (String line : """
                policies.p.limits=4/1h
                policies.p.on-failure=deny
                policies.p.deadline=60ms
                policies.p.block=20/10m for 15m up to 24h
                policies.s.opens=2030-01-01T00:00Z
                policies.s.closes=2030-02-01T00:00Z
                plans.free.limits=20/1m
                plans.gold.limits=9/1m
                plan-lookup.wait=20ms
                plan-lookup.expiry=2m
                plan-lookup.max-entries=7
                client-ip.trusted-proxies=10.0.0.0/8
                client-ip.ipv6-prefix=56
                http.headers=none
                http.expose-headers=true
                http.ignore-case=false
                http.ignore-trailing-slash=false
                http.method-override=none
                http.rejection-handler=com.example.Mine
                exempt.addresses=10.1.0.0/16
                exempt.users=ann
                exempt.roles=admin
                deny.addresses=192.0.2.0/24
                deny.status=429
                denials.log-per-second=7
                denials.keys=8
                rules.r.path=/r/{id}, /s/{id}
                rules.r.methods=GET
                rules.r.except=/r/free
                rules.r.exempt.addresses=10.2.0.0/16
                rules.r.exempt.users=bob
                rules.r.exempt.roles=boss
                rules.r.shadow=true
                rules.r.enabled=false
                rules.r.key=path:id
                rules.r.limits=4/1h
                rules.r.on-failure=deny
                rules.r.deadline=70ms
                rules.r.block=20/10m for 15m up to 24h
                rules.r.ipv6-prefix=48
                rules.r.position=after-authentication
                rules.r.cost=2
                rules.r.count-on=401
                rules.r.refund-on=404
                rules.r.wait=500ms
                rules.q.plan=user:plan
                rules.m.member=header:X-Name
                """.split("\n")) {
            String key = "limiter." + line.split("=")[0];
            String value = line.split("=", 2)[1];
            assertEquals(
                    List.of("RL-162 " + key + ": " + base.getOrDefault(key, "(not set)") + " -> " + value),
                    changes(made(base), made(base, key, value)));
        }
        assertEquals(List.of(), changes(made(base), made(base)));
        assertEquals(
                List.of("RL-162 limiter.policies.p.limits: 3/1h -> 4/1h"),
                changes(made(base), made(base, "limiter.policies.p.limits", "4/1h", "limiter.redis.deadline", "50ms")),
                "what needs a restart can't differ");
    }

    private static LimiterConfig made(Map<String, String> base, String... others) {
        Map<String, String> all = new LinkedHashMap<>(base);
        for (int i = 0; i < others.length; i += 2) {
            all.put(others[i], others[i + 1]);
        }
        return LimiterConfig.builder().properties("test", all).build();
    }

    @Test
    void whatDiffersShowsNoSecret() {
        Map<String, String> rule = Map.of(
                "limiter.rules.r.path",
                "/r",
                "limiter.rules.r.limits",
                "3/1h",
                "limiter.rules.r.query",
                "format=csv",
                "limiter.rules.r.headers",
                "X-Api-Key=hunter2, X-Kind");
        List<String> changes = changes(
                made(rule),
                made(rule, "limiter.rules.r.headers", "X-Api-Key=hunter3, X-Kind", "limiter.rules.r.query", "a=b"));
        assertEquals(
                List.of(
                        "RL-162 limiter.rules.r.query: format=*** -> a=***",
                        "RL-162 limiter.rules.r.headers: X-Api-Key=***, X-Kind -> X-Api-Key=***, X-Kind"),
                changes.stream()
                        .sorted(Comparator.comparing(one -> !one.contains("query")))
                        .toList());
        String gone = changes(made(rule), LimiterConfig.builder().build()).toString();
        assertTrue(gone.contains("RL-161 rule 'r' was removed") && !gone.contains("hunter"), gone);
        LimiterConfig whole = made(
                rule,
                "limiter.redis.address",
                "redis://u:hunter4@h:1",
                "limiter.redis.key-secret",
                "hunter6-hunter6-hunter6-hunter6-hunter6",
                "limiter.control.group",
                "shop",
                "limiter.control.secret",
                "hunter7-hunter7-hunter7");
        assertFalse(whole.settings().reload().toString().contains("hunter"), "the text that it keeps");
        String all = changes(LimiterConfig.builder().build(), whole).toString();
        assertFalse(all.contains("hunter") || all.contains("secret"), all);
    }

    /** It needs a restart; that another one is written is all that may be told of it. */
    @Test
    void anotherSecretOfPublishersIsNoChange() {
        Map<String, String> group =
                Map.of("limiter.control.group", "shop", "limiter.control.secret", "hunter2-hunter2-hunter2");
        LimiterConfig now = made(group);
        LimiterConfig next = made(group, "limiter.control.secret", "hunter3-hunter3-hunter3");
        assertEquals(List.of(), changes(now, next));
        assertEquals(
                List.of("limiter.control.*"),
                now.settings().reload().restartsFor(next.settings().reload()));
    }

    @Test
    void whatDiffersFromAConfigurationOfCodeIsNamedToo() {
        LimiterConfig text = made(Map.of("limiter.policies.p.limits", "3/1h"));
        LimiterConfig code = LimiterConfig.builder()
                .policy(Policy.of("p", Limit.fixedWindow(4, Duration.ofHours(1))))
                .build();
        assertEquals(List.of("RL-162 limiter.policies.p.limits: 3/1h -> 4/1h fixed name p"), changes(text, code));
        LimiterConfig open = LimiterConfig.builder()
                .policy(Policy.of("p", Limit.fixedWindow(4, Duration.ofHours(1)))
                        .withFailureMode(FailureMode.ALLOW))
                .build();
        assertTrue(changes(code, open).toString().contains("limiter.policies.p.on-failure"));
        String gone = changes(code, LimiterConfig.builder().build()).toString();
        assertTrue(gone.contains("RL-161 policy 'p' was removed") && gone.contains("limits: 4/1h fixed"), gone);
    }

    private static List<String> changes(LimiterConfig now, LimiterConfig next) {
        return now.settings().reload().changesTo(next.settings().reload());
    }
}
