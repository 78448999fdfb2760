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
import io.limiter.redis.RedisBackend;
import io.limiter.rule.PlanResolver;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import redis.embedded.RedisServer;

/**
 * How many commands a request costs. Plans, costs and rules that only count, on a cluster: counted as on one server. What can be denied is first looked at in each
 * slot and then taken; what is only counted takes at most one command for each slot. Slots of one master may share a command.
 */
@Isolated("counts all commands of the cluster")
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
            limiter.plan-lookup.wait = 5s
            limiter.plan-lookup.expiry = 1h
            """.formatted(Plans.class.getName());

    private static String shadow(String name) {
        return "limiter.rules.%1$s.path = /*\nlimiter.rules.%1$s.limits = 100/1h\nlimiter.rules.%1$s.shadow = true\n"
                .formatted(name);
    }

    /** How many scripts the masters have run. */
    private static long scripts() {
        return RedisServers.clusterPorts().stream()
                .mapToLong(RedisServers::scripts)
                .sum();
    }

    @ParameterizedTest
    @EachContainer
    void atMostACommandForEachSlotToLookAndOneToTake(Container.Kind kind) {
        String rules = RULES + shadow("one") + shadow("two") + shadow("three");
        Map<String, Policy> policies = WebServer.config(rules).policies();
        PartitionKey address = PartitionKey.of("127.0.0.1");
        try (RateLimiter limiter =
                        RateLimiters.on(Backends.connected(Backends.redis().cluster(RedisServers.cluster())));
                Container server = kind.make(directory)
                        .filter("limiter", WebServer.limiter(limiter, rules))
                        .servlet("/", WebServer.Answer.text("ok"))
                        .start()) {
            for (int i = 1; i <= 2; i++) {
                long before = scripts();
                long calls = i;
                assertEquals(
                        200, server.get("/", "X-Plan", "gold", "X-Cost", "4").statusCode());
                for (String shadow : List.of("one", "two", "three")) {
                    Await.until(
                            shadow + " is counted",
                            () -> limiter.monitor().allowed(shadow, Decision.Source.REDIS) == calls);
                }
                // Two that are enforced and three that are only counted. What is asked at the same time may leave in
                // one
                // command for each master; the two takes follow each other. A first call may have to send the scripts.
                long commands = scripts() - before;
                if (i > 1) {
                    assertTrue(commands >= 1 + 2 + 1 && commands <= 2 * 2 + 3, commands + " commands");
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
    void aPlanThatIsCachedCostsNoCommandMore() throws Exception {
        int port = RedisServers.freePort();
        RedisServer redis = RedisServers.start(port);
        String address = "redis://127.0.0.1:" + port;
        RedisBackend backend = Backends.connected(Backends.redis().address(address));
        try (RateLimiter limiter = RateLimiters.on(backend);
                Container server = new WebServer(directory)
                        .filter("limiter", WebServer.limiter(limiter, LOOKED_UP))
                        .servlet("/", (request, response) -> response.setStatus(200))
                        .start()) {
            assertEquals(2, commands(port, server, 1, 200, "one"), "a look, and the decision");
            assertEquals(10, commands(port, server, 10, 200, "one"));
            assertEquals(6, commands(port, server, 3, 200, "two", "three", "four"));
            assertEquals(1, commands(port, server, 1, 429, "five"), "a look denies");
            assertEquals(0, commands(port, server, 4, 429, "six", "seven", "eight", "nine"), "from memory");
        } finally {
            RedisServers.stop(redis);
        }
    }

    private static long commands(int port, Container server, int requests, int status, String... keys) {
        long before = RedisServers.scripts(port);
        for (int i = 0; i < requests; i++) {
            assertEquals(
                    status, server.get("/", "X-Api-Key", keys[i % keys.length]).statusCode());
        }
        return RedisServers.scripts(port) - before;
    }
}
