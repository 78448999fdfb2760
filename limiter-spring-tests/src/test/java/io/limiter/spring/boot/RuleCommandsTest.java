package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.SeenScripts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a request costs Redis, as MONITOR shows it: one command for all rules that are enforced, one for all that only count, one
 * for those behind the authentication.
 */
class RuleCommandsTest {

    private static final List<String> KINDS = List.of("enforced", "shadow", "behind");

    /** How many rules of each kind, and how many commands a request may cost. */
    private static final Map<String, Integer> COMMANDS = new TreeMap<>(Map.of(
            "1-0-0", 1, "3-0-0", 1, "6-0-0", 1, "1-1-0", 2, "3-3-0", 2, "6-3-0", 2, "0-3-0", 1, "0-0-3", 1, "2-0-3", 2,
            "2-2-2", 3));

    @TempDir
    Path folder;

    private static String rules() {
        StringBuilder yaml = new StringBuilder("""
                limiter:
                  redis: {address: "%s", prefix: rule-commands, deadline: 30s, startup-wait: 60s}
                  policies.vote.limits: 3/1h
                  rules:
                """.formatted(RedisServers.single()));
        COMMANDS.keySet().forEach(path -> {
            for (String kind : KINDS) {
                int rules = Integer.parseInt(path.split("-")[KINDS.indexOf(kind)]);
                boolean isShadow = kind.equals("shadow");
                String position = kind.equals("behind") ? "after" : "before";
                for (int i = 0; i < rules; i++) {
                    yaml.append(
                            "    r%1$s%2$s%3$d: {path: /%1$s, limits: 100/1h, shadow: %4$s, position: %5$s-authentication}\n"
                                    .formatted(path, kind, i, isShadow, position));
                }
            }
        });
        return yaml.toString();
    }

    @Test
    void oneCommandToDecideAndOneToCount() {
        try (BootSite site = BootSite.start(folder, rules(), WebSiteTest.Site.class);
                SeenScripts seen = new SeenScripts("rule-commands", List.of(RedisServers.singlePort()))) {
            Limiter limiter = site.bean(Limiter.class);
            for (Map.Entry<String, Integer> one : COMMANDS.entrySet()) {
                List<String> policies = new ArrayList<>(limiter.policies().keySet());
                policies.removeIf(name -> !name.startsWith("r" + one.getKey()));
                // The first is not counted: it may have to send the scripts.
                for (int i = 1; i <= 2; i++) {
                    int calls = i;
                    List<String> commands = seen.during(() -> {
                        assertEquals(404, site.call("GET", "/" + one.getKey()).statusCode());
                        Await.until("all are counted", () -> decided(limiter, policies) == calls * policies.size());
                    });
                    assertTrue(i == 1 || commands.size() == one.getValue(), one.getKey() + ": " + commands);
                }
            }
        }
    }

    private static long decided(Limiter limiter, List<String> policies) {
        return policies.stream()
                .mapToLong(name -> limiter.rateLimiter().monitor().allowed(name, Decision.Source.REDIS))
                .sum();
    }
}
