package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Calls to a server that is paused, or not there yet. */
class PausedRedisTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final Policy MANY =
            Policy.of("many", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    private static final Policy PATIENT = MANY.withDeadline(Duration.ofMinutes(1));

    /** Also when the connection is given up meanwhile. */
    @Test
    void aPausedServerCountsNoCallTwice() throws Exception {
        int calls = 200;
        try (OwnRedis own = OwnRedis.start();
                RedisBackend backend = Backends.connected(
                        RedisBackend.builder().address(own.address()).deadline(Duration.ofMillis(250)));
                RateLimiter limiter = RateLimiters.on(backend)) {
            own.pause();
            CompletableFuture<?> patient = sent(backend, List.of(new Charge(PATIENT, PartitionKey.of("other"), 1)));
            List<CompletableFuture<Decision>> answers = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                answers.add(limiter.acquireAsync(PermitRequest.of(MANY, KEY, 1)));
            }
            for (CompletableFuture<Decision> answer : answers) {
                assertEquals(
                        Decision.Source.FAILED_CLOSED,
                        answer.get(60, TimeUnit.SECONDS).source());
            }
            String given = failure(patient);
            assertFalse(given.contains("within"), given);
            own.resume();
            Await.until(
                    "Redis decides again",
                    () -> limiter.tryAcquire(MANY, PartitionKey.of("other"), 1).source() == Decision.Source.REDIS);
            // Within a time that a busy machine has too.
            Decision state = Looks.at(limiter, MANY.withDeadline(Duration.ofMinutes(1)), KEY);
            assertEquals(Decision.Source.REDIS, state.source());
            long counted = 1_000_000 - state.remaining();
            assertTrue(counted <= calls, counted + " counted of " + calls + " calls sent");
        }
    }

    /** The shortest of the policies'. One that was sent before, and has a longer one, still waits then; nothing else ends it. */
    @Test
    void aCallIsAnsweredByItsDeadline() throws Exception {
        try (OwnRedis own = OwnRedis.start();
                RedisBackend backend =
                        Backends.connected(Backends.withoutPings(own.address()).deadline(Duration.ofMinutes(1)))) {
            own.pause();
            Policy quick = Policy.of("quick", Limit.fixedWindow(9, Duration.ofHours(1)))
                    .withDeadline(Duration.ofMillis(10));
            Charge one = new Charge(quick, KEY, 1);
            for (List<Charge> charges : List.of(List.of(one), List.of(new Charge(MANY, KEY, 1), one))) {
                String failure = failure(sent(backend, charges));
                // On a busy machine this JVM may be late itself.
                assertTrue(failure.matches("(?s).*(within 10 ms|RL-221|RL-237).*"), failure);
            }
            CompletableFuture<?> patient = sent(backend, List.of(new Charge(MANY, KEY, 1)));
            String failure = failure(sent(backend, List.of(one)));
            // It may not be sent as long as the one before it has no answer.
            assertTrue(failure.matches("(?s).*(within 10 ms|RL-221|RL-237).*"), failure);
            assertFalse(patient.isDone(), "it waited as long as the patient one");
            // Else closing waits for it.
            own.resume();
        }
    }

    private static CompletableFuture<?> sent(RedisBackend backend, List<Charge> charges) {
        return backend.decide(charges, Backend.Mode.TAKE).toCompletableFuture();
    }

    private static String failure(CompletableFuture<?> call) {
        return String.valueOf(assertThrows(ExecutionException.class, () -> call.get(90, TimeUnit.SECONDS))
                .getMessage());
    }
}
