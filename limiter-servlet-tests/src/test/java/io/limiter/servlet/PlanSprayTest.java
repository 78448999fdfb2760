package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.rule.PlanResolver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One client sends made-up API keys; a customer that is not in the cache keeps its plan all the same. */
class PlanSprayTest extends Served {
    private static final String PLANS = """
            limiter.plans.free.limits = 5/1h
            limiter.plans.gold.limits = 8/1h
            limiter.rules.api.path = /*
            limiter.rules.api.key = header:X-Api-Key
            limiter.rules.api.plan = %s
            limiter.rules.api.default-plan = free
            limiter.plan-lookup.wait = 10s
            """.formatted(Plans.class.getName());
    private static final String BY_ADDRESS = """
            limiter.rules.addr.path = /*
            limiter.rules.addr.limits = 20/1h
            """;

    private final Plans plans = new Plans();
    private final List<String> threads = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger authenticated = new AtomicInteger();

    @AfterEach
    void endLookups() {
        plans.end.countDown();
    }

    /** A database that takes its time. */
    public static final class Plans implements PlanResolver {
        private final AtomicInteger lookups = new AtomicInteger();
        private volatile long millis;
        /** What made-up callers wait for, where it is set. */
        private volatile CountDownLatch end = new CountDownLatch(0);

        @Override
        public String plan(String caller) throws Exception {
            lookups.incrementAndGet();
            if (caller.startsWith("made up")) {
                end.await();
            }
            if (millis > 0) {
                // A lookup that takes this long is what is tested, and nobody waits for it here.
                new CompletableFuture<>()
                        .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                        .get();
            }
            return caller.startsWith("gold") ? "gold" : caller.startsWith("free") ? "free" : null;
        }
    }

    private void start(String rules) {
        RateLimitFilter filter = RateLimitFilter.builder(Limiter.of(WebServer.config(rules), limiter))
                .instances(type -> type == Plans.class ? plans : null)
                .build();
        server = new WebServer(directory)
                .filter("limiter", filter)
                .requestFilter("authentication", (request, response, chain) -> {
                    authenticated.incrementAndGet();
                    chain.doFilter(request, response);
                })
                .servlet(
                        "/",
                        (request, response) ->
                                threads.add(request.getDispatcherType() + " " + request.isAsyncStarted()))
                .start();
    }

    private CompletableFuture<Integer> send(String address, String key) {
        return server.later("/", "Test-Address", address, "X-Api-Key", key);
    }

    /** Sends requests with different keys from some addresses, 50 at once. */
    private void spray(int requests, String prefix, String... addresses) {
        Deque<CompletableFuture<Integer>> sent = new ArrayDeque<>();
        for (int i = 0; i < requests; i++) {
            if (sent.size() == 50) {
                sent.remove().join();
            }
            sent.add(send(addresses[i % addresses.length], prefix + i));
        }
        sent.forEach(CompletableFuture::join);
    }

    private long allowed(String address, String key) {
        long allowed = 0;
        for (int i = 0; i < 8; i++) {
            allowed += send(address, key).join() == 200 ? 1 : 0;
        }
        return allowed;
    }

    /** A client could cause an ASYNC dispatch with a new key, and that skips filters that are mapped to REQUEST only. */
    @Test
    void aLookupSkipsNoFilterForRequests() {
        plans.millis = 20;
        start(PLANS);
        // A client has two lookups at once.
        spray(
                20,
                "made up ",
                IntStream.range(1, 21).mapToObj(i -> "192.0.2." + i).toArray(String[]::new));
        assertEquals(20, threads.size());
        assertEquals(20, plans.lookups.get());
        assertEquals(20, authenticated.get());
        assertEquals(Set.of("REQUEST false"), Set.copyOf(threads));
    }

    @Test
    void aClientThatIsDeniedUsesUpNoLookups() {
        start(PLANS + BY_ADDRESS);
        spray(1_200, "made up ", "192.0.2.1");
        // Of 50 that come at once all may be looked at before the first one has taken its permit.
        assertTrue(plans.lookups.get() <= 20 + 50, plans.lookups + " lookups for 20 requests that were not denied");
        assertEquals(8, allowed("192.0.2.2", "gold 1"), "the plan of a customer that was not in the cache");
        assertEquals(1_180, limiter.monitor().denied("addr", Decision.Source.IN_PROCESS), "each denial counts");
    }

    /** Whether another rule denies the client or not. */
    @ParameterizedTest
    @ValueSource(strings = {"", BY_ADDRESS})
    void slowLookupsOfOneClientDelayNoOther(String others) {
        plans.end = new CountDownLatch(1);
        start(PLANS + others);
        List<CompletableFuture<Integer>> sprayed = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            sprayed.add(send("192.0.2.1", "made up " + i));
        }
        Await.until(Duration.ofSeconds(60), "lookups of the client run", () -> plans.lookups.get() >= 2);
        assertEquals(8, allowed("192.0.2.2", "gold 1"), "while no lookup of the other client ends");
        plans.end.countDown();
        sprayed.forEach(CompletableFuture::join);
        assertEquals(8, allowed("192.0.2.3", "gold 2"));
    }

    /** A plan that every key has must not displace those that customers pay for. */
    @Test
    void aSprayDisplacesNoPlanThatIsNotTheDefaultOne() {
        start(PLANS + "limiter.plan-lookup.max-entries = 20\n");
        assertEquals(200, send("192.0.2.2", "gold 1").join());
        spray(200, "free ", "192.0.2.1");
        int before = plans.lookups.get();
        assertEquals(200, send("192.0.2.2", "gold 1").join());
        assertEquals(before, plans.lookups.get());
    }
}
