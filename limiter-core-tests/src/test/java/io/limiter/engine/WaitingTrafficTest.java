package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seeded traffic of calls that wait, are cancelled and fail, in any order: no permit is lost, none is given twice. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD) // a head that asks without a pause
class WaitingTrafficTest {
    private static final int CALLS = 2_000;
    private static final List<Policy> POLICIES = List.of(
            Policy.of("bucket", Limit.tokenBucket(20, Duration.ofSeconds(1), 3)),
            Policy.of(
                    "window",
                    Limit.fixedWindow(5, Duration.ofMillis(300)),
                    Limit.slidingList(9, Duration.ofSeconds(1))),
            Policy.of("log", Limit.slidingList(4, Duration.ofMillis(250))));

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend = new AskedBackend(Backends.inProcess(timer.time));
    private final RateLimiter limiter = RateLimiters.builder(backend)
            .executor(Runnable::run)
            .maxWaiting(60)
            .timer(timer)
            .build();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void eachCallIsAnsweredOnceAndEachPermitIsOfOneCall(long seed) {
        Random random = new Random(seed);
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        Set<Object> given = Collections.newSetFromMap(new IdentityHashMap<>());
        int waitedMost = 0;
        for (int i = 0; i < CALLS; i++) {
            backend.holdsBack = random.nextInt(4) == 0;
            answers.add(limiter.acquireAsync(
                    PermitRequest.of(charges(random)).withMaxWait(Duration.ofMillis(random.nextInt(900)))));
            if (random.nextInt(3) == 0) {
                answers.get(answers.size() - 1 - random.nextInt(Math.min(4, answers.size())))
                        .cancel(false);
            }
            if (random.nextInt(3) == 0) {
                backend.answer();
            }
            timer.advance(random.nextInt(30_000));
            waitedMost = Math.max(waitedMost, limiter.monitor().waiting());
        }
        backend.holdsBack = false;
        while (!backend.heldBack.isEmpty() || limiter.monitor().waiting() > 0) {
            backend.answer();
            timer.advance(10_000);
        }
        int admitted = 0;
        for (CompletableFuture<Decision> answer : answers) {
            assertTrue(answer.isDone());
            if (!answer.isCancelled() && answer.join().allowed()) {
                admitted++;
                answer.join().outcomes().forEach(one -> assertTrue(given.add(one), "one permit for two calls"));
            }
        }
        for (Decision refunded : backend.refunded) {
            refunded.outcomes().forEach(one -> assertTrue(given.add(one), "given back twice, or in use"));
        }
        // What the backend has granted is in use, or was given back.
        assertEquals(backend.granted, admitted + backend.refunded.size());
        assertTrue(admitted > 100 && !backend.refunded.isEmpty() && waitedMost > 10 && waitedMost <= 60, "the traffic");
        assertTrue(backend.asked.size() < 2.5 * CALLS, () -> backend.asked.size() + " commands");
        assertEquals(0, timer.size());
    }

    private static List<Charge> charges(Random random) {
        List<Charge> charges = new ArrayList<>();
        for (Policy policy : POLICIES) {
            if (random.nextInt(2) == 0) {
                PartitionKey key = PartitionKey.of("k" + random.nextInt(3));
                charges.add(new Charge(policy, key, 1 + random.nextInt(2)));
            }
        }
        return charges.isEmpty() ? List.of(new Charge(POLICIES.get(0), PartitionKey.of("k0"), 1)) : charges;
    }
}
