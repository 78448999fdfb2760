package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import io.limiter.kit.SeenScripts;
import io.limiter.rule.PlanResolver;
import io.limiter.servlet.WebServer.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * How many commands a request costs. Plans, costs and rules that only count, on a cluster: counted as on one server. What can be denied is first looked at in each
 * slot and then taken; what is only counted takes at most one command for each slot. Slots of one master may share a command.
 */
class CommandsTest extends Served {
    private static final String RULES = """
            limiter.plans.free.limits = 10/1h
            limiter.plans.gold.limits = 30/1h
            limiter.rules.api.path = /*
            limiter.rules.api.plan = header:X-Plan
            limiter.rules.api.default-plan = free
            limiter.rules.api.cost = header:X-Cost max 5
            limiter.rules.all.path = /*
            limiter.rules.all.key = global
            limiter.rules.all.limits = 100/1h
            """;

    private static final String LOOKED_UP = """
            limiter.plans.free.limits = 5/1h
            limiter.plans.gold.limits = 50/1h
            limiter.rules.api.path = /*
            limiter.rules.api.key = header:X-Api-Key
            limiter.rules.api.plan = %s
            limiter.rules.api.default-plan = free
            limiter.rules.api.on-failure = deny
            limiter.rules.addr.path = /*
            limiter.rules.addr.limits = 14/1h
            limiter.rules.addr.on-failure = deny
            limiter.plan-lookup.wait = 10s
            limiter.plan-lookup.expiry = 1h
            """.formatted(Plans.class.getName());

    private static String shadow(String name) {
        return "limiter.rules.%1$s.path = /*\nlimiter.rules.%1$s.limits = 100/1h\nlimiter.rules.%1$s.shadow = true\n"
                .formatted(name);
    }

    @ParameterizedTest
    @EachContainer
    void atMostACommandForEachSlotToLookAndOneToTake(Container.Kind kind) {
        String rules = RULES + shadow("one") + shadow("two") + shadow("three");
        Map<String, Policy> policies = WebServer.config(rules).policies();
        PartitionKey address = PartitionKey.of("127.0.0.1");
        String prefix = "commands-" + kind;
        try (RateLimiter limiter = RateLimiters.on(
                        Backends.connected(Backends.sharedCluster().prefix(prefix)));
                SeenScripts seen = new SeenScripts(prefix, RedisServers.clusterPorts());
                Container server = kind.serve(directory, WebServer.limiter(limiter, rules), Answer.text("ok"))) {
            for (int i = 1; i <= 2; i++) {
                long calls = i;
                List<String> commands = seen.during(() -> {
                    assertEquals(200, server.status("/", "X-Plan", "gold", "X-Cost", "4"));
                    for (String shadow : List.of("one", "two", "three")) {
                        Await.until(
                                shadow + " is counted",
                                () -> limiter.monitor().allowed(shadow, Decision.Source.REDIS) == calls);
                    }
                });
                // Two that are enforced and three that are only counted. What is asked at the same time may leave in
                // one command for each master; the two takes follow each other. A first call may have to send the
                // scripts.
                if (i > 1) {
                    assertTrue(commands.size() >= 1 + 2 + 1 && commands.size() <= 2 * 2 + 3, commands::toString);
                }
            }
            assertEquals(22, Looks.left(limiter, policies.get("api.gold"), address));
            assertEquals(10, Looks.left(limiter, policies.get("api.free"), address));
            assertEquals(98, Looks.left(limiter, policies.get("all"), PartitionKey.global()));
        }
    }

    /** Gold for all. */
    public static final class Plans implements PlanResolver {
        @Override
        public String plan(String caller) {
            return "gold";
        }
    }

    @Test
    void aPlanThatIsCachedCostsNoCommandMore() {
        String prefix = "commands-plan";
        try (RateLimiter limiter = RateLimiters.on(
                        Backends.connected(Backends.shared().prefix(prefix).denialMaxAge(Duration.ofMinutes(1))));
                SeenScripts seen = new SeenScripts(prefix, List.of(RedisServers.singlePort()));
                Container server = Container.Kind.TOMCAT.serve(
                        directory, WebServer.limiter(limiter, LOOKED_UP), Answer.text("ok"))) {
            assertEquals(2, commands(seen, server, 1, 200, "one"), "a look, and the decision");
            assertEquals(10, commands(seen, server, 10, 200, "one"));
            assertEquals(6, commands(seen, server, 3, 200, "two", "three", "four"));
            assertEquals(1, commands(seen, server, 1, 429, "five"), "a look denies");
            assertEquals(0, commands(seen, server, 4, 429, "six", "seven", "eight", "nine"), "from memory");
        }
    }

    private static int commands(SeenScripts seen, Container server, int requests, int status, String... keys) {
        return seen.during(() -> {
                    for (int i = 0; i < requests; i++) {
                        assertEquals(status, server.status("/", "X-Api-Key", keys[i % keys.length]));
                    }
                })
                .size();
    }
}
