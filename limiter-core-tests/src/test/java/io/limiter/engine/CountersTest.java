package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A listener of the counters gets each policy once. */
class CountersTest {
    private final RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
    private final List<String> heard = Collections.synchronizedList(new ArrayList<>());

    private void ask(String policy) {
        limiter.tryAcquire(Policy.of(policy, Limit.fixedWindow(1, Duration.ofHours(1))), PartitionKey.global(), 1);
    }

    @Test
    void policiesFromBeforeAtOnceAndNewOnesWhenTheyDecide() {
        ask("before");
        limiter.monitor().onPolicy(heard::add);
        assertEquals(List.of("before"), heard);
        ask("before");
        ask("later");
        ask("later");
        assertEquals(List.of("before", "later"), heard);
        assertEquals(1, limiter.monitor().allowed("later", Decision.Source.IN_PROCESS));
        assertEquals(1, limiter.monitor().denied("later", Decision.Source.IN_PROCESS));
    }

    @Test
    void aListenerThatFailsDoesNoHarmToCallersNorToOtherListeners() {
        limiter.monitor().onPolicy(name -> {
            throw new IllegalStateException("broken");
        });
        limiter.monitor().onPolicy(heard::add);
        ask("p");
        assertEquals(List.of("p"), heard);
        assertEquals(1, limiter.monitor().allowed("p", Decision.Source.IN_PROCESS));
    }

    /** Also the first call of a policy that nobody waits for: its answer is read by a thread that has others to read. */
    @Test
    void aListenerMayAskTheLimiterAgain() {
        Policy asked = Policy.of("asked", Limit.fixedWindow(5, Duration.ofMinutes(1)));
        Policy inside = Policy.of("inside", Limit.fixedWindow(5, Duration.ofMinutes(1)));
        CompletableFuture<Decision.Source> answer = new CompletableFuture<>();
        CompletableFuture<String> thread = new CompletableFuture<>();
        try (RateLimiter redis = Backends.limiter(Backends.single())) {
            redis.monitor().onPolicy(name -> {
                if (name.equals("asked")) {
                    thread.complete(Thread.currentThread().getName());
                    answer.complete(
                            redis.tryAcquire(inside, PartitionKey.of("k"), 1).source());
                }
            });
            redis.acquireAsync(PermitRequest.of(List.of(new Charge(asked, PartitionKey.of("k"), 1))));
            assertEquals(
                    Decision.Source.REDIS,
                    answer.orTimeout(60, TimeUnit.SECONDS).join());
            assertFalse(thread.join().contains("netty"), thread.join());
        }
    }

    @Test
    void noneIsMissedAndNoneIsHeardTwiceWhileCallersAsk() throws Exception {
        int policies = 200;
        AtOnce.run(4, caller -> {
            for (int i = 0; i < policies; i++) {
                if (caller > 0) {
                    ask("p" + i);
                } else if (i == 0) {
                    limiter.monitor().onPolicy(heard::add);
                }
            }
        });
        assertEquals(policies, heard.size());
        assertEquals(policies, new HashSet<>(heard).size());
        assertTrue(limiter.monitor().policies().containsAll(heard));
    }
}
