package io.limiter.example.site.lab;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/**
 * Puts each call to the four policies at once. The decisions are the limiter's own, on the backend that is configured;
 * nothing is simulated. Thread-safe.
 */
@Component
class Laboratory implements AutoCloseable {
    private final RateLimiter limiter;
    private final TimeSource time;
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1, task -> {
        Thread thread = new Thread(task, "laboratory");
        thread.setDaemon(true);
        return thread;
    });

    Laboratory(Limiter limiter, ObjectProvider<TimeSource> time) {
        this.limiter = limiter.rateLimiter();
        this.time = time.getIfAvailable(TimeSource::system);
    }

    /** Now, in milliseconds of the clock of recorded calls. */
    double nowMillis() {
        return time.nowMicros() / 1_000.0;
    }

    /** Starts the traffic. Calls that are due at once are made before this returns. */
    void start(Visitor visitor, Traffic traffic) {
        long[] offsets = traffic.offsetsMicros();
        if (Boolean.TRUE.equals(traffic.fresh())) {
            afresh(visitor);
        }
        Run run = new Run(offsets, () -> arrive(visitor), timer);
        visitor.replaceRun(run);
        run.go();
    }

    /** One call now. */
    void arrive(Visitor visitor) {
        long round = visitor.round();
        double at = nowMillis();
        PartitionKey key = visitor.key();
        // Separate calls: charges of one list would be all or nothing.
        var unused = together(visitor.limits().policies().stream()
                        .map(policy -> limiter.acquireAsync(PermitRequest.of(policy, key, 1))
                                .toCompletableFuture())
                        .toList())
                .thenAccept(decisions -> visitor.note(
                        round, at, decisions.stream().map(Verdict::of).toList()));
    }

    /** What each of the four has left, including the calls that other instances have admitted. */
    List<Decision> look(Visitor visitor) {
        PartitionKey key = visitor.key();
        List<CompletableFuture<Decision>> asked = new ArrayList<>();
        for (Policy policy : visitor.limits().policies()) {
            asked.add(limiter.acquireAsync(PermitRequest.of(List.of(new Charge(policy, key, 0)))
                            .withLook())
                    .toCompletableFuture());
        }
        return together(asked).join();
    }

    /**
     * Stops the traffic, and resets what the visitor has used, on all instances, and the drawing.
     *
     * @throws io.limiter.BackendException if Redis is unreachable
     */
    void afresh(Visitor visitor) {
        visitor.replaceRun(null);
        PartitionKey key = visitor.key();
        for (Policy policy : visitor.limits().policies()) {
            limiter.reset(policy, key);
        }
        visitor.newRound();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    private static CompletableFuture<List<Decision>> together(List<CompletableFuture<Decision>> asked) {
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                .thenApply(all -> asked.stream().map(CompletableFuture::join).toList());
    }
}
