package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.RateLimiter;
import io.limiter.engine.ManualTimer;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import io.limiter.kit.SeenScripts;
import io.limiter.kit.door.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;

/** Requests that wait, fifty or a thousand at once, on real containers and a real Redis. The time is the test's. */
class WaitingOnRedisTest extends Served {
    private static final int KEYS = 10;
    private static final int EACH = Repeats.of(5, 100);
    private static final int WAITING = KEYS * EACH;
    /** Of which one client, or one key, has a tenth. */
    private static final int MOST_WAITING = 20_000;
    /** The first request of a key takes the whole window; those that wait get the next one. */
    private static final String RULES = """
            limiter.wait.max-waiting = %d
            limiter.rules.search.path = /*
            limiter.rules.search.key = header:X-Key
            limiter.rules.search.limits = 120/15s fixed
            limiter.rules.search.cost = header:X-Cost max 120
            limiter.rules.search.wait = 40s
            """.formatted(MOST_WAITING);

    /** Of Tomcat: fewer than requests that wait. */
    private static final int THREADS = 10;

    private static final Pattern REMAINING = Pattern.compile("r=([0-9]+)");

    private final ManualTimer timer = new ManualTimer();

    private Container start(Container.Kind kind, RateLimiter limiter, String rules) {
        Container server = kind.make(directory);
        if (server instanceof WebServer tomcat) {
            tomcat.connector("maxThreads", Integer.toString(THREADS));
        }
        return server.filter("limiter", WebServer.limiter(limiter, rules))
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
            Await.until(all + " wait", () -> limiter.monitor().waiting() == all);
        }
        return clients;
    }

    private RateLimiter limiter(String prefix) {
        return timer.limiter(RateLimiters.builder(
                        Backends.connected(Backends.shared().prefix(prefix).timeSource(timer.time)))
                .fallback(Backends.inProcess(timer.time))
                .maxWaiting(MOST_WAITING));
    }

    /** The next window begins, and all that wait have their turn. */
    private void endWindow(RateLimiter limiter) {
        timer.advance(15_000_000);
        timer.runUntil("nobody waits", () -> limiter.monitor().waiting() == 0);
    }

    @ParameterizedTest
    @EachContainer
    void requestsWaitWithoutThreadsInOrderAndWithFewCommands(Container.Kind kind) {
        String prefix = "waiting-" + kind;
        try (RateLimiter limiter = limiter(prefix);
                SeenScripts seen = new SeenScripts(prefix, List.of(RedisServers.singlePort()));
                Container server = start(kind, limiter, RULES)) {
            assertEquals(200, server.get("/", "X-Key", "warm-up").statusCode());
            List<List<Client>> clients = new ArrayList<>();
            List<String> commands = seen.during(() -> {
                clients.addAll(allWait(server, limiter));
                assertEquals(WAITING, limiter.monitor().waiting());
                // One client leaves: its permit goes to a request that nobody reads, or to the next one, never to two.
                clients.get(0).remove(EACH / 2).close();
                endWindow(limiter);
            });
            assertTrue(commands.size() - KEYS < 2 * WAITING, () -> commands.size() + " commands");
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
            LimiterMonitor counters = limiter.monitor();
            assertEquals(WAITING + KEYS + 1, counters.allowed("search", Decision.Source.REDIS));
        }
    }
}
