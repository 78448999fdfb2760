package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimiterMonitor;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where a backend never waits, a stage is complete when it is returned, and nothing else differs from a call that waits. */
class ImmediateAnswerTest {
    private static final PermitRequest VOTE = PermitRequest.of(
            Policy.of("vote", Limit.fixedWindow(2, Duration.ofMinutes(1)))
                    .withPenalty(Limit.block(2, Duration.ofMinutes(1), Duration.ofMinutes(5), Duration.ofMinutes(5))),
            PartitionKey.of("192.0.2.1"),
            1);

    private final ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "chosen"));

    @AfterEach
    void end() {
        executor.shutdownNow();
    }

    private RateLimiter inThisJvm() {
        return RateLimiters.builder(Backends.inProcess(new ManualTime()))
                .executor(executor)
                .build();
    }

    @Test
    void inThisJvmAStageIsComplete() {
        try (RateLimiter limiter = inThisJvm()) {
            for (boolean allowed : new boolean[] {true, true, false}) {
                CompletableFuture<Decision> answer = limiter.acquireAsync(VOTE);
                assertTrue(answer.isDone());
                assertEquals(allowed, answer.join().allowed());
            }
        }
    }

    @Test
    void onRedisTheCallerDoesNotWaitAndTheStageIsCompletedByTheExecutor() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                RateLimiter limiter = RateLimiters.builder(Backends.connected(Backends.withoutPings(wire.address())))
                        .executor(executor)
                        .build()) {
            wire.cut();
            CompletableFuture<Decision> answer = limiter.acquireAsync(VOTE);
            CompletableFuture<String> thread =
                    answer.thenApply(decision -> Thread.currentThread().getName());
            assertFalse(answer.isDone());
            wire.repair();
            Await.until("it is answered", thread::isDone);
            assertEquals("chosen", thread.join());
            assertEquals(Decision.Source.REDIS, answer.join().source());
        }
    }

    @Test
    void countersAndLogAreThoseOfACallThatWaits() throws Exception {
        List<List<String>> seen = new ArrayList<>();
        for (boolean waits : new boolean[] {true, false}) {
            try (LogLines log = new LogLines("io.limiter.Denials", Level.INFO).ofThreads("chosen");
                    RateLimiter limiter = inThisJvm()) {
                List<String> facts = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    Decision decision = waits
                            ? limiter.acquire(VOTE)
                            : limiter.acquireAsync(VOTE).join();
                    facts.add(decision.allowed() + " " + decision.blocked());
                }
                // Others of the same moment may be counted only.
                Await.until(
                        "a denial is logged",
                        () -> !log.of(Level.INFO, "RL-405").isEmpty());
                facts.add(log.of(Level.INFO, "RL-405").get(0).split("; denials not logged", 2)[0]);
                LimiterMonitor monitor = limiter.monitor();
                facts.add(monitor.allowed("vote", Decision.Source.IN_PROCESS) + " "
                        + monitor.denied("vote", Decision.Source.IN_PROCESS) + " " + monitor.blocked("vote"));
                monitor.busiest(5).forEach(one -> facts.add(one.policy() + " " + one.key() + " " + one.denied()));
                seen.add(facts);
            }
        }
        assertEquals(seen.get(0), seen.get(1));
        assertTrue(seen.get(0).contains("2 4 3"), seen::toString);
    }

    /** The caller may be an event loop, which a listener must not hold up. */
    @Test
    void listenersOfACallThatNobodyWaitsForRunOnTheExecutor() {
        List<String> heard = new CopyOnWriteArrayList<>();
        for (RateLimiter each : List.of(
                inThisJvm(),
                RateLimiters.builder(Backends.connected(Backends.single()))
                        .executor(executor)
                        .build())) {
            try (RateLimiter limiter = each) {
                limiter.monitor()
                        .onPolicy(name -> heard.add(Thread.currentThread().getName()));
                limiter.acquireAsync(VOTE).join();
                Await.until("it is heard", () -> !heard.isEmpty());
                assertEquals(List.of("chosen"), heard);
                heard.clear();
            }
        }
    }
}
