package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Client;
import jakarta.servlet.AsyncContext;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A permit of a call in flight is held until the response has ended, in whatever way, and is free once afterwards. */
class InFlightTest extends Served {
    private static final int LIMIT = 8;
    private static final int ROUNDS = Repeats.of(5, 200);
    private static final int AT_ONCE = 10;
    /** Not enough for all rounds at once. */
    private static final int MANY = 20;

    private static final String RULES = """
            limiter.policies.calls.limits = 8 concurrent
            limiter.rules.api.path = /*
            limiter.rules.api.policy = calls
            """;

    private final WaysToEnd ways = new WaysToEnd();
    private final Map<String, AtomicInteger> served = new ConcurrentHashMap<>();
    private final CountDownLatch go = new CountDownLatch(1);
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private LimiterConfig config = WebServer.config(RULES);

    @AfterEach
    void endClients() {
        clients.shutdownNow();
    }

    private void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        server = ways.on(
                        kind.make(directory).filter("limiter", WebServer.limiter(limiter, rules)),
                        (request, response) -> Thread.yield())
                .servlet("/wait", (request, response) -> awaitGo())
                .servlet("/wait-async", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    CompletableFuture.runAsync(
                            () -> {
                                awaitGo();
                                async.complete();
                            },
                            clients);
                })
                .start();
    }

    /** Requests that are in flight until {@link #go}, at the same time. */
    private List<CompletableFuture<Integer>> waiting(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> server.later(i % 2 == 0 ? "/wait" : "/wait-async"))
                .toList();
    }

    private void go(List<CompletableFuture<Integer>> waiting) {
        go.countDown();
        waiting.forEach(
                one -> assertEquals(200, one.orTimeout(60, TimeUnit.SECONDS).join()));
        awaitNone();
    }

    private void awaitGo() {
        try {
            assertTrue(go.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private long inUse() {
        Policy calls = config.policies().get("calls");
        Decision look = Looks.at(limiter, calls, PartitionKey.of("127.0.0.1"));
        return calls.limits().get(0).permits() - look.outcomes().get(0).remaining();
    }

    private void awaitNone() {
        try {
            // An end is counted after it was sent: Redis may know of it first.
            Await.until(
                    "no call in flight", () -> inUse() == 0 && limiter.monitor().inFlight("calls") == 0);
        } catch (AssertionError left) {
            String counted = inUse() + " in use, " + limiter.monitor().inFlight("calls") + " counted, ";
            throw new AssertionError(counted + ways + " run", left);
        }
    }

    private int status(String path) {
        return server.later(path).orTimeout(60, TimeUnit.SECONDS).join();
    }

    /** Each container and each place in every build, all pairs in a long run. */
    static Stream<Arguments> everywhere() {
        return Stream.of(Container.Kind.values())
                .flatMap(kind -> Stream.of(Arguments.of(kind, false), Arguments.of(kind, true)))
                .filter(pair -> Repeats.of(1, 2) == 2 || pair.get()[1].equals(pair.get()[0] == Container.Kind.TOMCAT));
    }

    @ParameterizedTest
    @MethodSource("everywhere")
    void everyWayToEndAtOnce(Container.Kind kind, boolean onRedis) {
        if (onRedis) {
            limiter.close();
            limiter = Backends.limiter(true);
        }
        start(kind, RULES.replace("8 concurrent", MANY + " concurrent"));
        Semaphore next = new Semaphore(AT_ONCE);
        List<CompletableFuture<Void>> rounds = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            next.acquireUninterruptibly();
            rounds.add(round().whenComplete((done, failed) -> next.release()));
        }
        rounds.forEach(CompletableFuture::join);
        awaitNone();
        assertTrue(ways.most() <= MANY, ways.most() + " at once");
        // In few rounds one of them may always have met the permits of the others.
        Stream.concat(WaysToEnd.PATHS.stream(), Stream.of("/stream"))
                .forEach(path -> assertTrue(
                        served.getOrDefault(path, new AtomicInteger()).get() >= ROUNDS / 20, served::toString));
        for (String path : WaysToEnd.PATHS) {
            assertTrue(status(path) != 429, path);
            awaitNone();
        }
        System.out.printf(
                "%s, %s: %d rounds, at most %d of %d at once; served: %s%n",
                kind, onRedis ? "Redis" : "in process", ROUNDS, ways.most(), MANY, served);
    }

    /** A request of each kind, all at once. */
    private CompletableFuture<Void> round() {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (String path : WaysToEnd.PATHS) {
            all.add(server.later(path)
                    .orTimeout(60, TimeUnit.SECONDS)
                    .handle((status, reset) -> count(path, status == null ? 0 : status)));
        }
        for (boolean stays : List.of(true, false)) {
            all.add(CompletableFuture.runAsync(() -> count("/stream", WaysToEnd.read(server, stays)), clients));
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    }

    private Void count(String path, int status) {
        if (status != 429) {
            served.computeIfAbsent(path, none -> new AtomicInteger()).incrementAndGet();
        }
        return null;
    }

    @ParameterizedTest
    @EachContainer
    void itIsHeldUntilTheResponseHasEnded(Container.Kind kind) {
        start(kind, RULES);
        List<CompletableFuture<Integer>> running = waiting(LIMIT);
        ways.awaitRunning(LIMIT);
        HttpResponse<String> denied = server.get("/answer");
        assertEquals(429, denied.statusCode());
        assertEquals("none", Container.field(denied, "Retry-After"));
        assertEquals("\"calls\";q=8;qu=\"concurrent-requests\"", Container.field(denied, "RateLimit-Policy"));
        assertEquals("\"calls\";r=0", Container.field(denied, "RateLimit"));
        assertTrue(denied.body().contains("Try again when another request has ended."), denied.body());
        go(running);
        assertEquals(200, server.get("/answer").statusCode());
    }

    /** A rate tells when to try again, whatever else denies. */
    @Test
    void besideARate() {
        start(Container.Kind.TOMCAT, RULES.replace("8 concurrent", "8 concurrent, 2/1h fixed"));
        List<CompletableFuture<Integer>> running = waiting(2);
        ways.awaitRunning(2);
        HttpResponse<String> denied = server.get("/answer");
        assertEquals(429, denied.statusCode());
        assertTrue(denied.headers().firstValue("Retry-After").isPresent(), denied.headers()::toString);
        assertEquals(2, limiter.monitor().inFlight("calls"), "a denied request holds nothing");
        go(running);
    }

    @ParameterizedTest
    @EachContainer
    void requestsThatWait(Container.Kind kind) {
        start(kind, RULES + "limiter.rules.api.wait = 30s\n");
        List<CompletableFuture<Integer>> running = waiting(LIMIT * 2);
        ways.awaitRunning(LIMIT);
        Await.until("the others wait", () -> limiter.monitor().waiting() == LIMIT);
        go(running);
        assertEquals(LIMIT, ways.most());
    }

    /** It has its response before the filter returns, so its next request may come before its permit is free. */
    @ParameterizedTest
    @EachContainer
    void aClientThatSendsOneAfterTheOtherWaitsForItsOwnPermit(Container.Kind kind) {
        start(kind, RULES.replace("8 concurrent", "1 concurrent") + "limiter.rules.api.wait = 30s\n");
        for (int i = 0; i < Repeats.of(30, 300); i++) {
            try (Client client = Client.send(server.port(), "GET", "/answer")) {
                assertEquals(200, client.response().status());
            }
        }
    }

    @ParameterizedTest
    @EachContainer
    void aShadowRuleHoldsAndDeniesNothing(Container.Kind kind) {
        start(kind, RULES + "limiter.rules.api.shadow = true\n");
        List<CompletableFuture<Integer>> running = waiting(LIMIT + 2);
        ways.awaitRunning(LIMIT + 2);
        assertEquals(LIMIT, inUse());
        go(running);
    }
}
