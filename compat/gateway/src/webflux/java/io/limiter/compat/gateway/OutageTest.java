package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Requests through a gateway while Redis is stalled, killed and failed over. */
class OutageTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int CONNECTIONS = 16;

    /** By way and failure mode. Those of {@code local} have a limit of 10, all others of very many. */
    private static final List<String> ROUTES =
            List.of("filter-allow", "filter-deny", "filter-local", "bean-allow", "bean-deny", "bean-local");

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Long> micros = new ArrayList<>();
    /** How many were admitted where the failure mode is {@code local}, in all phases. */
    private final Map<String, Integer> locals = new HashMap<>();

    private final StringBuilder report = new StringBuilder();

    private static String[] properties(int sentinel, String deadline) {
        List<String> all = new ArrayList<>(List.of(
                // Reactor Netty may stop reading a connection where some are answered at once and others later.
                "server.netty.max-keep-alive-requests=1",
                "limiter.redis.address=redis://127.0.0.1:" + sentinel,
                "limiter.redis.deadline=" + deadline,
                "limiter.redis.mode=sentinel",
                "limiter.redis.startup-wait=60s",
                "limiter.redis.master=" + RedisServers.MASTER));
        for (int i = 0; i < ROUTES.size(); i++) {
            String id = ROUTES.get(i);
            String route = "routes[" + i + "].";
            all.addAll(List.of(route + "id=" + id, route + "uri=SERVICE", route + "predicates[0]=Path=/" + id + "/**"));
            String mode = id.split("-")[1];
            all.addAll(List.of(
                    "limiter.policies." + id + ".limits=" + (mode.equals("local") ? 10 : 1_000_000) + "/1h fixed",
                    "limiter.policies." + id + ".on-failure=" + mode));
            all.addAll(
                    id.startsWith("filter")
                            ? List.of(route + "filters[0]=Limiter=" + id)
                            : List.of(
                                    route + "filters[0].name=RequestRateLimiter",
                                    route + "filters[0].args.rate-limiter=#{@limiterRateLimiter}"));
        }
        return all.toArray(String[]::new);
    }

    @Test
    void noRequestGetsAnErrorAndTheFailureModesAnswer() throws Exception {
        // On a busy machine a healthy Redis may take longer than the default.
        run(100, "1s", "200", "429");
    }

    @Test
    @Tag("long")
    void noneOfThousands() throws Exception {
        run(Repeats.of(1_500, 8_500), "50ms", "200 503", "200 429");
        System.out.println(report);
    }

    /** About six times that many requests. */
    private void run(int each, String deadline, String deny, String local) throws Exception {
        int masterPort = RedisServers.freePort();
        RedisServer master = RedisServers.start(masterPort);
        int replicaPort = RedisServers.freePort();
        RedisServer replica = RedisServers.start(replicaPort, "replicaof 127.0.0.1 " + masterPort);
        int sentinelPort = RedisServers.startSentinel(masterPort);
        long pid = RedisServers.pid(masterPort);
        try (Jedis sentinel = RedisServers.jedis(sentinelPort)) {
            RedisServers.awaitReplicating(replicaPort);
            Await.until(
                    LONG,
                    "the sentinel knows the replica",
                    () -> sentinel.info("sentinel").contains("slaves=1"));
            // One that is stalled stays the master, however long that takes.
            setDownAfter(sentinel, 3_600_000);
            try (Site site = Site.of(properties(sentinelPort, deadline))) {
                awaitCounted(site);
                phase(site, "healthy", each, "200", deny, "200 429");

                RedisServers.signal("STOP", pid);
                try {
                    // Until the breaker opens a request waits for the deadline.
                    awaitUncounted(site);
                    phase(site, "stalled", 2 * each, "200", "503", "200 429");
                } finally {
                    RedisServers.signal("CONT", pid);
                }
                awaitCounted(site);
                phase(site, "back", each / 2, "200", deny, local);

                setDownAfter(sentinel, 500);
                RedisServers.signal("KILL", pid);
                phase(site, "killed, and failed over", 2 * each, "200", "200 503", "200 429");
                awaitCounted(site);
                phase(site, "on the replica", each / 2, "200", deny, local);
            }
        } finally {
            master.stop();
            replica.stop();
        }
    }

    private static void setDownAfter(Jedis sentinel, int millis) {
        byte[] command = "SENTINEL".getBytes();
        sentinel.sendCommand(
                () -> command, "SET", RedisServers.MASTER, "down-after-milliseconds", Integer.toString(millis));
    }

    private void awaitCounted(Site site) {
        Await.until(LONG, "Redis counts", () -> site.get("/filter-deny/1").status() == 200);
    }

    private void awaitUncounted(Site site) {
        Await.until(
                LONG,
                "Redis is known to be down",
                () -> site.get("/filter-deny/1").status() == 503);
    }

    /** Sends requests to all routes in turn, some at once; each gets an answer, one of those that its failure mode has. */
    private void phase(Site site, String name, int requests, String allow, String deny, String local) throws Exception {
        Map<String, AtomicInteger> seen = new TreeMap<>();
        ROUTES.forEach(route -> {
            for (int status : new int[] {200, 429, 503}) {
                seen.put(route + " " + status, new AtomicInteger());
            }
        });
        AtomicInteger failures = new AtomicInteger();
        Semaphore free = new Semaphore(CONNECTIONS);
        micros.clear();
        for (int i = 0; i < requests; i++) {
            String route = ROUTES.get(i % ROUTES.size());
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + site.port() + "/" + route + "/1?user=ann"))
                    .timeout(LONG)
                    .build();
            free.acquire();
            long since = System.nanoTime();
            http.sendAsync(request, BodyHandlers.ofString()).whenComplete((response, failure) -> {
                note(route, response, since, seen, failures);
                free.release();
            });
        }
        assertTrue(free.tryAcquire(CONNECTIONS, LONG.toSeconds(), TimeUnit.SECONDS), name);
        seen.values().removeIf(count -> count.get() == 0);
        micros.sort(null);
        report.append(name + ": " + requests + " requests, " + failures + " errors, " + seen
                + ", ms at 50 %, 99 %, 100 %: "
                + micros.get(micros.size() / 2) / 1_000.0 + ", " + micros.get(micros.size() * 99 / 100) / 1_000.0 + ", "
                + micros.get(micros.size() - 1) / 1_000.0 + "\n");
        assertEquals(0, failures.get(), report::toString);
        seen.keySet().forEach(one -> {
            String[] parts = one.split("[- ]");
            String right = parts[1].equals("allow") ? allow : parts[1].equals("deny") ? deny : local;
            assertTrue(Arrays.asList(right.split(" ")).contains(parts[2]), () -> one + "\n" + report);
        });
        seen.forEach((one, count) -> {
            if (one.endsWith("local 200")) {
                // 10 of Redis, and 10 of this JVM when it does not answer in time.
                assertTrue(locals.merge(one, count.get(), Integer::sum) <= 20, report::toString);
            }
        });
    }

    private synchronized void note(
            String route,
            HttpResponse<String> response,
            long since,
            Map<String, AtomicInteger> seen,
            AtomicInteger failures) {
        AtomicInteger count = response == null ? null : seen.get(route + " " + response.statusCode());
        (count == null ? failures : count).incrementAndGet();
        micros.add((System.nanoTime() - since) / 1_000);
    }
}
