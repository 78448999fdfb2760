package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** Rules that count members, over HTTP, in this JVM and on Redis. */
class MembersTest {
    private static final String PREFIX = "members-" + UUID.randomUUID();

    @TempDir
    Path directory;

    /** Where it is decided. */
    enum Decided {
        IN_PROCESS(InProcessBackend::create),
        REDIS(() -> Backends.connected(
                Backends.redis().address(RedisServers.single()).prefix(PREFIX))),
        CLUSTER(() -> Backends.connected(
                Backends.redis().cluster(RedisServers.cluster()).prefix(PREFIX)));

        private final Supplier<io.limiter.Backend> backend;

        Decided(Supplier<io.limiter.Backend> backend) {
            this.backend = backend;
        }

        RateLimiter limiter() {
            return RateLimiters.on(backend.get());
        }
    }

    /** Policies of one test have names of their own, so that no test finds what another one used. */
    private static String named(String rules) {
        return rules.replace("NAME", "m" + UUID.randomUUID().toString().substring(0, 8));
    }

    private Container start(RateLimiter limiter, String rules) {
        return start(WebServer.limiter(limiter, rules));
    }

    private Container start(RateLimitFilter filter) {
        return Container.Kind.TOMCAT
                .make(directory)
                .filter("limiter", filter)
                .servlet("/page", (request, response) -> {
                    String status = request.getParameter("s");
                    response.setStatus(status == null ? 200 : Integer.parseInt(status));
                })
                .start();
    }

    private static int status(Container server, String... headers) {
        return server.get("/page", headers).statusCode();
    }

    @ParameterizedTest
    @EnumSource
    void aMissingMemberIsOneMemberAndNotFree(Decided decided) throws Exception {
        String rules = named("""
                limiter.rules.NAME.path = /page
                limiter.rules.NAME.member = header:X-User
                limiter.rules.NAME.limits = 2/1h distinct
                """);
        try (RateLimiter limiter = decided.limiter();
                Container server = start(limiter, rules)) {
            assertEquals(200, status(server));
            assertEquals(200, status(server, "X-User", ""), "an empty one is missing");
            assertEquals(200, status(server, "X-User", "a", "X-User", "b"), "so is an ambiguous one");
            assertEquals(200, status(server, "X-User", "a"), "all of these were one member");
            assertEquals(429, status(server, "X-User", "b"));
            assertEquals(429, status(server, "X-User", "127.0.0.1"));
            assertEquals(429, status(server, "X-User", "@~"));
            assertEquals(200, status(server));
        }
    }

    @ParameterizedTest
    @EnumSource
    void twoMembersOfOneKeyInOneRequestAreTwoChargesOfOneDecision(Decided decided) throws Exception {
        String rules = named("""
                limiter.policies.NAME.limits = 3/1h distinct
                limiter.rules.by.path = /page
                limiter.rules.by.member = header:X-By
                limiter.rules.by.policy = NAME
                limiter.rules.for.path = /page
                limiter.rules.for.member = header:X-For
                limiter.rules.for.policy = NAME
                """);
        Policy policy = WebServer.config(rules).policies().values().iterator().next();
        PartitionKey address = PartitionKey.of("127.0.0.1");
        try (RateLimiter limiter = decided.limiter();
                Container server = start(limiter, rules)) {
            assertEquals(200, status(server, "X-By", "a", "X-For", "b"));
            assertEquals(1, Looks.left(limiter, policy, address));
            assertEquals(429, status(server, "X-By", "c", "X-For", "d"), "there is room for one of them");
            Await.until("neither of them was counted", () -> Looks.left(limiter, policy, address) == 1);
            assertEquals(200, status(server, "X-By", "a", "X-For", "b"), "both are known");
            assertEquals(200, status(server, "X-By", "a", "X-For", "c"), "a known one and a new one");
            assertEquals(429, status(server, "X-By", "a", "X-For", "d"));
            assertEquals(
                    429,
                    status(server, "X-By", "c", "X-For", "b"),
                    "the same text in another header is another member");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPlanWithoutMembersIgnoresThem(Decided decided) throws Exception {
        String rules = named("""
                limiter.plans.free.limits = 1/1h distinct, 100/1d
                limiter.plans.gold.limits = 3/1h
                limiter.rules.NAME.path = /page
                limiter.rules.NAME.member = header:X-User
                limiter.rules.NAME.plan = header:X-Plan
                limiter.rules.NAME.default-plan = free
                """);
        try (RateLimiter limiter = decided.limiter();
                Container server = start(limiter, rules)) {
            assertEquals(200, status(server, "X-User", "a"));
            assertEquals(429, status(server, "X-User", "b"));
            assertEquals(200, status(server, "X-User", "a"));
            List<Integer> gold = IntStream.range(0, 4)
                    .map(i -> status(server, "X-User", "u" + i, "X-Plan", "gold"))
                    .boxed()
                    .toList();
            assertEquals(List.of(200, 200, 200, 429), gold);
        }
    }

    /** No value of a header is in Redis, whether of a key or of a member. */
    @ParameterizedTest
    @EnumSource(names = "REDIS")
    void theValuesOfHeadersAreHashed(Decided decided) throws Exception {
        String rules = named("""
                limiter.rules.NAME.path = /page
                limiter.rules.NAME.member = header:X-Token + query:u
                limiter.rules.NAME.limits = 2/1h distinct
                """);
        String name = WebServer.config(rules).settings().rules().get(0).name();
        try (RateLimiter limiter = decided.limiter();
                Container server = start(limiter, rules);
                Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            assertEquals(
                    200,
                    server.get("/page?u=clearquery", "X-Token", "clearheader").statusCode());
            TreeSet<String> stored = new TreeSet<>();
            for (String key : redis.keys(PREFIX + ":{" + name + ":*")) {
                stored.add(key);
                stored.addAll(redis.zrange(key, 0, -1));
            }
            assertTrue(stored.size() >= 3, stored::toString);
            assertFalse(stored.toString().contains("clear"), stored::toString);
        }
    }

    @ParameterizedTest
    @EnumSource
    void explainedIsWhatTheMemberGets(Decided decided) throws Exception {
        String rules = named("""
                limiter.rules.NAME.path = /page
                limiter.rules.NAME.member = header:X-User
                limiter.rules.NAME.limits = 1/1h distinct
                """);
        try (RateLimiter limiter = decided.limiter()) {
            RateLimitFilter filter = WebServer.limiter(limiter, rules);
            try (Container server = start(filter)) {
                assertEquals(200, status(server, "X-User", "a"));
                for (Map.Entry<String, Integer> user : Map.of("a", 0, "b", 429).entrySet()) {
                    RequestSample sample =
                            RequestSample.of("GET", "/page", "127.0.0.1").withHeaders("X-User: " + user.getKey());
                    Explanation explained = filter.explain(sample);
                    assertEquals(user.getValue(), explained.status());
                    String member = Objects.requireNonNull(
                            explained.rules().get(0).charge().member());
                    assertTrue(member.startsWith("header.x-user=~"), member);
                    assertEquals(
                            explained.status() == 429,
                            explained.reason().contains(" with the member " + member + " "),
                            explained.reason());
                }
                Explanation missing = filter.explain(RequestSample.of("GET", "/page", "127.0.0.1"));
                assertEquals("", missing.rules().get(0).charge().member());
                assertTrue(missing.reason().contains(", without a member, "), missing.reason());
                assertEquals(200, status(server, "X-User", "a"));
                assertEquals(429, status(server, "X-User", "b"));
            }
        }
    }
}
