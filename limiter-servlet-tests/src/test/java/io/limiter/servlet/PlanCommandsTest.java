package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.redis.RedisBackend;
import io.limiter.rule.PlanResolver;
import java.net.URI;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** How many commands a request costs whose plan has to be looked up. */
class PlanCommandsTest {
    private static final String RULES = """
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
    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_(?:evalsha|eval):calls=([0-9]+)");

    @TempDir
    Path directory;

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
                Jedis jedis = new Jedis(URI.create(address));
                Container server = new WebServer(directory)
                        .filter(
                                "limiter",
                                RateLimitFilter.builder(Limiter.of(WebServer.config(RULES), limiter))
                                        .build())
                        .servlet("/", (request, response) -> response.setStatus(200))
                        .start()) {
            assertEquals(2, commands(jedis, server, 1, 200, "one"), "a look, and the decision");
            assertEquals(10, commands(jedis, server, 10, 200, "one"));
            assertEquals(6, commands(jedis, server, 3, 200, "two", "three", "four"));
            assertEquals(1, commands(jedis, server, 1, 429, "five"), "a look denies");
            assertEquals(0, commands(jedis, server, 4, 429, "six", "seven", "eight", "nine"), "from memory");
        } finally {
            RedisServers.stop(redis);
        }
    }

    private static long commands(Jedis jedis, Container server, int requests, int status, String... keys) {
        long before = scripts(jedis);
        for (int i = 0; i < requests; i++) {
            assertEquals(
                    status, server.get("/", "X-Api-Key", keys[i % keys.length]).statusCode());
        }
        return scripts(jedis) - before;
    }

    private static long scripts(Jedis jedis) {
        Matcher found = SCRIPTS.matcher(jedis.info("commandstats"));
        long sum = 0;
        while (found.find()) {
            sum += Long.parseLong(found.group(1));
        }
        return sum;
    }
}
