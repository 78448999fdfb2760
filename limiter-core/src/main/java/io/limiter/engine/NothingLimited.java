package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Admits everything, uncounted. Thread-safe. */
final class NothingLimited implements Backend {
    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return CompletableFuture.completedFuture(Decision.of(Decision.Source.FAILED_OPEN, charges, List.of()));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return CompletableFuture.completedFuture(false);
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {}
}
