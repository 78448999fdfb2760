package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Client;
import io.limiter.redis.RedisBackend;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Requests that wait, two hundred or a thousand at once, on real containers and a real Redis. */
@Tag("timing")
class WaitingOnRedisTest {
    private static final int KEYS = 10;
    private static final int EACH = Repeats.of(5, 100);
    private static final int WAITING = KEYS * EACH;
    /** Of which one client, or one key, has a tenth. */
    private static final int MOST_WAITING = 20_000;
    /** Long enough for all requests to arrive within it. */
    private static final String WINDOW = Repeats.of(5, 15) + "s";
    /** The first request of a key takes the whole window; those that wait get the next one. */
    private static final String RULES = """
            limiter.wait.max-waiting = %d
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 120/%s fixed
            limiter.rules.search.cost = header:X-Cost
            limiter.rules.search.max-cost = 120
            limiter.rules.search.wait = 40s
            """.formatted(MOST_WAITING, WINDOW);

    private static final Pattern REMAINING = Pattern.compile("r=([0-9]+)");

    @TempDir
    Path directory;

    private Container start(Container.Kind kind, RateLimiter limiter, String rules) {
        return kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", (request, response) -> response.setStatus(200))
                .start();
    }

    private static List<List<Client>> allWait(Container server, RateLimiter limiter) {
        List<List<Client>> clients = new ArrayList<>();
        int waiting = 0;
        for (int key = 0; key < KEYS; key++) {
            assertEquals(
                    200, server.get("/", "X-Key", "k" + key, "X-Cost", "120").statusCode());
            clients.add(new ArrayList<>());
        }
        for (int i = 0; i < EACH; i++) {
            for (int key = 0; key < KEYS; key++) {
                clients.get(key).add(Client.send(server.port(), "GET", "/", "X-Key: k" + key));
            }
            waiting += KEYS;
            int all = waiting;
            // In order of arrival for each key.
            Await.until(
                    Duration.ofSeconds(20),
                    all + " wait",
                    () -> limiter.monitor().waiting() == all);
        }
        return clients;
    }

    private static RateLimiter limiter(RedisBackend backend) {
        return RateLimiters.builder(backend).maxWaiting(MOST_WAITING).build();
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long scriptCalls(int port) {
        try (Jedis redis = new Jedis("127.0.0.1", port)) {
            Matcher calls = Pattern.compile("cmdstat_evalsha:calls=([0-9]+)").matcher(redis.info("commandstats"));
            return calls.find() ? Long.parseLong(calls.group(1)) : 0;
        }
    }

    @ParameterizedTest
    @EnumSource
    void requestsWaitWithoutThreadsInOrderAndWithFewCommands(Container.Kind kind) {
        RedisBackend backend = Backends.connected(Backends.redis().address(RedisServers.single()));
        try (RateLimiter limiter = limiter(backend);
                Container server = start(kind, limiter, RULES)) {
            assertEquals(200, server.get("/", "X-Key", "warm-up").statusCode());
            int threads = threads();
            long before = scriptCalls(RedisServers.singlePort());
            List<List<Client>> clients = allWait(server, limiter);
            assertEquals(WAITING, limiter.monitor().waiting());
            int more = threads() - threads;
            // One client leaves: its permit goes to a request that nobody reads, or to the next one, never to two.
            clients.get(0).remove(EACH / 2).close();
            for (List<Client> ofKey : clients) {
                List<Integer> remaining = new ArrayList<>();
                for (Client client : ofKey) {
                    Client.Response response = client.response();
                    assertEquals(200, response.status());
                    Matcher left = REMAINING.matcher(response.fields().get("ratelimit"));
                    assertTrue(left.find());
                    remaining.add(Integer.parseInt(left.group(1)));
                }
                assertEquals(remaining.stream().sorted((a, b) -> b - a).toList(), remaining, "in order of arrival");
                assertEquals(remaining.size(), remaining.stream().distinct().count(), "no permit is taken twice");
                assertEquals(120 - EACH, remaining.get(remaining.size() - 1), "no permit is lost");
            }
            long commands = scriptCalls(RedisServers.singlePort()) - before - KEYS;
            System.out.printf(
                    "%s: %d more threads while %d requests wait; %.2f commands for each%n",
                    kind, more, WAITING, (double) commands / WAITING);
            assertTrue(more < 30, more + " more threads");
            assertTrue(commands < 2 * WAITING, commands + " commands");
            assertEquals(0, limiter.monitor().waiting());
            LimiterMonitor counters = limiter.monitor();
            assertEquals(WAITING + KEYS + 1, counters.allowed("search", Decision.Source.REDIS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void whenRedisDiesAllAreAnsweredByTheFailureMode(Container.Kind kind) {
        int port = RedisServers.freePort();
        RedisServer redis = RedisServers.start(port);
        RedisBackend backend = Backends.connected(Backends.redis().address("redis://127.0.0.1:" + port));
        try (RateLimiter limiter = RateLimiters.builder(backend)
                        .fallback(InProcessBackend.create())
                        .maxWaiting(MOST_WAITING)
                        .build();
                Container server = start(kind, limiter, RULES)) {
            List<List<Client>> clients = allWait(server, limiter);
            RedisServers.signal("KILL", RedisServers.pid(port));
            long began = System.nanoTime();
            List<Integer> statuses = clients.stream()
                    .flatMap(List::stream)
                    .map(client -> client.response().status())
                    .distinct()
                    .collect(Collectors.toList());
            assertEquals(List.of(200), statuses, "the share of this instance is the whole limit");
            assertTrue(System.nanoTime() - began < 40_000_000_000L, "at the end of the window, not of the wait");
            assertEquals(0, limiter.monitor().waiting());
            assertEquals(WAITING, limiter.monitor().allowed("search", Decision.Source.LOCAL_FALLBACK));
        } finally {
            RedisServers.stop(redis);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whenTheServerStopsAllConnectionsEnd(Container.Kind kind) {
        RedisBackend backend = Backends.connected(Backends.redis().address(RedisServers.single()));
        try (RateLimiter limiter = limiter(backend)) {
            Container server = start(kind, limiter, RULES.replace(WINDOW, "45s").replace("40s", "1m"));
            List<List<Client>> clients = allWait(server, limiter);
            server.close();
            assertEquals(0, limiter.monitor().waiting());
            System.out.println(kind + " stopped: statuses "
                    + clients.stream()
                            .flatMap(List::stream)
                            .map(client -> client.response().status())
                            .collect(Collectors.groupingBy(status -> status, Collectors.counting())));
        }
    }
}
