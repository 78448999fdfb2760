package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What differs between two configurations, as the log shows it. */
class ChangesTest {
    @Test
    void whatDiffersIsNamedInTheWordsOfTheConfiguration() {
        Map<String, String> base = new LinkedHashMap<>();
        for (String line : """
                policies.p.limits=3/1h
                plans.free.limits=2/1m
                rules.r.path=/r/{id}
                rules.r.key=ip
                rules.r.limits=3/1h
                """.split("\n")) {
            base.put("limiter." + line.split("=")[0], line.split("=", 2)[1]);
        }
        for (String line : """
                policies.p.limits=4/1h
                policies.p.on-failure=deny
                plans.free.limits=20/1m
                plans.gold.limits=9/1m
                client-ip.trusted-proxies=10.0.0.0/8
                rules.r.path=/r/{id}, /s/{id}
                rules.r.shadow=true
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
                "limiter.rules.r.path", "/r",
                "limiter.rules.r.limits", "3/1h",
                "limiter.rules.r.query", "format=csv",
                "limiter.rules.r.headers", "X-Api-Key=hunter2, X-Kind");
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
        assertTrue(gone.contains("RL-161 limiter.rules.r was removed") && !gone.contains("hunter"), gone);
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
                List.of("limiter.control.secret"),
                now.settings().reload().restartsFor(next.settings().reload()));
    }

    private static List<String> changes(LimiterConfig now, LimiterConfig next) {
        return now.settings().reload().changesTo(next.settings().reload());
    }
}
