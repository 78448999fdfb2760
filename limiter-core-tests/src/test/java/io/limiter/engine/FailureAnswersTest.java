package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** When the answer of a failure mode is logged. */
class FailureAnswersTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Policy POLICY =
            Policy.of("deny", Limit.slidingList(10, Duration.ofMinutes(1))).withFailureMode(FailureMode.DENY);

    /** An outage has one exception, and few of its calls look at the clock; each other failure does. */
    @Test
    void aFailureLongAfterTheLastOneIsLogged() {
        ManualTimer timer = new ManualTimer();
        AtomicReference<BackendException> reason = new AtomicReference<>(new BackendException("gone"));
        Backend failing = new AskedBackend(InProcessBackend.create()) {
            @Override
            public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
                return CompletableFuture.failedFuture(reason.get());
            }
        };
        RateLimiter limiter = RateLimiters.builder(failing).timer(timer).build();
        try (LogLines log = new LogLines().ofThreads()) {
            limiter.tryAcquire(POLICY, KEY, 1);
            timer.advance(11_000_000);
            reason.set(new BackendException("gone"));
            limiter.tryAcquire(POLICY, KEY, 1);
            assertEquals(2, log.of(Level.WARN, "gone").size(), "another failure");
            timer.advance(11_000_000);
            for (int i = 0; i < 1_000; i++) {
                limiter.tryAcquire(POLICY, KEY, 1);
            }
            assertEquals(3, log.of(Level.WARN, "gone").size(), "the same one, often");
        }
    }
}
