package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

public class PrintQueue {
    private final Limiter limiter;

    public PrintQueue(Limiter limiter) {
        this.limiter = limiter;
    }

    /** Waits up to two seconds for a permit. Returns false, at once, if none is due by then. */
    public boolean print(String user, Runnable report) throws InterruptedException {
        PermitRequest page = PermitRequest.of(limiter.policy("print"), PartitionKey.of(user), 1);
        Decision decision = limiter.rateLimiter().acquire(page.withMaxWait(Duration.ofSeconds(2)));
        if (decision.allowed()) {
            report.run();
        }
        return decision.allowed();
    }

    /** The same without a waiting thread. Cancel the future to leave the queue. */
    public CompletableFuture<Boolean> printLater(String user, Runnable report) {
        PermitRequest page = PermitRequest.of(limiter.policy("print"), PartitionKey.of(user), 1);
        return limiter.rateLimiter()
                .acquireAsync(page.withMaxWait(Duration.ofSeconds(2)))
                .thenApply(decision -> {
                    if (decision.allowed()) {
                        report.run();
                    }
                    return decision.allowed();
                });
    }
}
