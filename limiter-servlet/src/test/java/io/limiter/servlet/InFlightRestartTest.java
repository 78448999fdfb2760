package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimiterMonitor.FlightCount;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Client;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.embedded.RedisServer;

/** Servers that are killed, applications that are redeployed, and a Redis that is away, while requests are in flight. */
@Tag("long")
class InFlightRestartTest {
    private static final int LIMIT = InFlightServer.LIMIT;
    private static final Duration HOLD = InFlightServer.HOLD;
    private static final int ROUNDS = Repeats.of(2, 8);
    private static final PartitionKey KEY = PartitionKey.global();
    private static final Policy CALLS =
            Policy.of("calls", Limit.concurrent(LIMIT, HOLD)).withFailureMode(FailureMode.DENY);
    /** Of the same state, with more permits than there are calls. */
    private static final Policy ALL =
            Policy.of("calls", Limit.concurrent(1_000, HOLD)).withFailureMode(FailureMode.DENY);

    @TempDir
    Path directory;

    private final String prefix = "restarts-" + System.nanoTime();
    private final List<Client> clients = new ArrayList<>();

    @AfterEach
    void stop() {
        clients.forEach(Client::close);
    }

    private static long inUse(RateLimiter limiter) {
        return 1_000
                - limiter.tryAcquire(PermitRequest.of(ALL, KEY, 0).withLook()).remaining();
    }

    /** Of each kind some: those that have a thread, those that have none, and those whose client does not read. */
    private void fill(int port, String... paths) {
        for (int i = 0; i < LIMIT; i++) {
            clients.add(Client.send(port, "GET", paths[i % paths.length]));
        }
    }

    private Process jvm(Container.Kind kind, String prefix) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        InFlightServer.class.getName(),
                        kind.name(),
                        RedisServers.single(),
                        prefix,
                        Files.createTempDirectory(directory, "server").toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static int port(Process jvm) {
        return new BufferedReader(new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8))
                .lines()
                .filter(line -> line.startsWith(InFlightServer.PORT))
                .mapToInt(line -> Integer.parseInt(line.substring(InFlightServer.PORT.length())))
                .findFirst()
                .orElseThrow();
    }

    /** The permits of a killed server come back after {@code hold}, and not before: nobody knows what it does. */
    @ParameterizedTest
    @EachContainer
    void killed(Container.Kind kind) throws Exception {
        long shortest = Long.MAX_VALUE;
        long longest = 0;
        Process next = jvm(kind, prefix);
        try (RateLimiter here = InFlightServer.limiter(RedisServers.single(), prefix)) {
            for (int round = 0; round < ROUNDS; round++) {
                Process jvm = next;
                int port = port(jvm);
                fill(port, "/wait", "/wait-async", "/stream?endless");
                Await.until(Duration.ofSeconds(30), "all permits are in use", () -> inUse(here) == LIMIT);
                try (Client denied = Client.send(port, "GET", "/answer")) {
                    assertEquals(429, denied.response().status());
                }
                assertFalse(here.enter(CALLS, KEY, 1).allowed());
                next = jvm(kind, prefix);
                long killed = System.nanoTime();
                jvm.destroyForcibly().waitFor();
                // By the time of Redis: nobody renews them any more.
                assertTrue(RedisServers.heldFor(prefix).compareTo(HOLD) <= 0);
                InFlight all = here.enter(CALLS, KEY, LIMIT);
                while (!all.allowed()) {
                    assertTrue(inUse(here) <= LIMIT, "above the limit");
                    all = here.enter(CALLS, KEY, LIMIT);
                }
                long millis = (System.nanoTime() - killed) / 1_000_000;
                all.close();
                shortest = Math.min(shortest, millis);
                longest = Math.max(longest, millis);
                Await.until(Duration.ofSeconds(60), "nothing is in flight", () -> inUse(here) == 0);
            }
        } finally {
            // Before its folder is deleted.
            next.destroyForcibly().waitFor();
        }
        System.out.printf(
                "%s: killed %d times with %d in flight; free after %d to %d ms, hold %d ms%n",
                kind, ROUNDS, LIMIT, shortest, longest, HOLD.toMillis());
        // The last renewal was at most a third of it before the kill.
        assertTrue(shortest >= HOLD.toMillis() / 2, shortest + " ms");
    }

    @ParameterizedTest
    @EachContainer
    void redeployed(Container.Kind kind) throws Exception {
        long longest = 0;
        WaysToEnd ways = new WaysToEnd();
        try (RateLimiter here = InFlightServer.limiter(RedisServers.single(), prefix);
                InFlightServer server =
                        new InFlightServer(kind, directory, ways, RedisServers.single(), prefix, "deny")) {
            for (int round = 0; round < ROUNDS; round++) {
                fill(server.container.port(), "/wait");
                ways.awaitRunning(LIMIT);
                long delay = TimeUnit.MILLISECONDS.toNanos(
                        ThreadLocalRandom.current().nextInt(500));
                CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> {
                    LockSupport.parkNanos(delay);
                    server.ends.release(LIMIT);
                });
                server.container.redeploy();
                long began = System.nanoTime();
                List<CompletableFuture<HttpResponse<Void>>> all = IntStream.range(0, 3 * LIMIT)
                        .mapToObj(i -> WebServer.CLIENT.sendAsync(
                                server.container.request("/async-timeout").build(),
                                HttpResponse.BodyHandlers.discarding()))
                        .toList();
                all.forEach(one -> one.orTimeout(60, TimeUnit.SECONDS).join());
                ended.join();
                Await.until(Duration.ofSeconds(60), "nothing is in flight", () -> inUse(here) == 0);
                longest = Math.max(longest, (System.nanoTime() - began) / 1_000_000);
                ways.awaitRunning(0);
            }
        }
        System.out.printf(
                "%s: redeployed %d times with %d in flight; at most %d at once; free at the latest after %d ms%n",
                kind, ROUNDS, LIMIT, ways.most(), longest);
        // An application that stops gives back what it holds. Tomcat waits for its requests, of Jetty they go on beside
        // those after it.
        int most = kind == Container.Kind.TOMCAT ? LIMIT : 2 * LIMIT;
        assertTrue(ways.most() <= most, ways.most() + " at once");
    }

    /** Two servers, and a Redis that is away for twice {@code hold} and comes back empty. */
    @ParameterizedTest
    @ValueSource(strings = {"deny", "local", "allow"})
    void outage(String failure) throws Exception {
        int port = RedisServers.freePort();
        String address = "redis://127.0.0.1:" + port;
        RedisServer redis = RedisServers.start(port);
        WaysToEnd ways = new WaysToEnd();
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (InFlightServer one = new InFlightServer(Container.Kind.TOMCAT, directory, ways, address, prefix, failure);
                InFlightServer two =
                        new InFlightServer(Container.Kind.JETTY, directory, ways, address, prefix, failure)) {
            List<InFlightServer> servers = List.of(one, two);
            // Half of what is in flight ends every 200 ms, so the load is the same all the time.
            servers.forEach(server -> threads.execute(() -> {
                while (!over.get()) {
                    LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
                    server.ends.release(Math.max(1, ways.running() / 4));
                }
            }));
            for (int i = 0; i < 6 * LIMIT; i++) {
                InFlightServer server = servers.get(i % 2);
                threads.execute(() -> {
                    while (!over.get()) {
                        int status = server.container.get("/wait").statusCode();
                        LockSupport.parkNanos(
                                Duration.ofMillis(status == 200 ? 0 : 20).toNanos());
                    }
                });
            }
            int before = most(ways, HOLD, over);
            RedisServers.stop(redis);
            int during = most(ways, HOLD.multipliedBy(2), over);
            redis = RedisServers.start(port);
            int after = most(ways, HOLD.multipliedBy(2), over);
            int later = most(ways, HOLD, over);
            over.set(true);
            servers.forEach(server -> server.ends.release(10_000));
            ways.awaitRunning(0);
            Await.until(Duration.ofSeconds(30), "nothing is in flight", () -> inUse(one.limiter()) == 0);
            long lost = one.limiter().monitor().inFlight("calls", FlightCount.LOST)
                    + two.limiter().monitor().inFlight("calls", FlightCount.LOST);
            long overrun = one.limiter().monitor().inFlight("calls", FlightCount.OVERRUN)
                    + two.limiter().monitor().inFlight("calls", FlightCount.OVERRUN);
            System.out.printf(
                    "on-failure = %s, limit %d, two instances: at most %d before an outage of %d ms, %d while, %d in the"
                            + " %d ms after it, %d later; held again %d, of them above the limit %d%n",
                    failure,
                    LIMIT,
                    before,
                    HOLD.multipliedBy(2).toMillis(),
                    during,
                    after,
                    HOLD.multipliedBy(2).toMillis(),
                    later,
                    lost,
                    overrun);
            assertTrue(before <= LIMIT && later <= LIMIT, before + " before, " + later + " later");
            if (failure.equals("deny")) {
                assertTrue(during <= LIMIT && after <= LIMIT, during + " while, " + after + " after it");
            } else if (failure.equals("local")) {
                // What was in flight before, and a share for each instance.
                assertTrue(during <= 2 * LIMIT && after <= 2 * LIMIT, during + " while, " + after + " after it");
            }
        } finally {
            over.set(true);
            threads.shutdownNow();
            RedisServers.stop(redis);
        }
    }

    /** The most that run at once from now on. */
    private static int most(WaysToEnd ways, Duration time, AtomicBoolean over) {
        int most = 0;
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end && !over.get()) {
            most = Math.max(most, ways.running());
            LockSupport.parkNanos(1_000_000);
        }
        return most;
    }
}
