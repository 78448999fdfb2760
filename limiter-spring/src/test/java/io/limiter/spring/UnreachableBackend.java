package io.limiter.spring;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A backend that cannot be reached, so that the local share decides. */
public final class UnreachableBackend implements Backend {
    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return CompletableFuture.failedFuture(new BackendException("RL-220 unreachable"));
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return CompletableFuture.failedFuture(new BackendException("RL-220 unreachable"));
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return CompletableFuture.failedFuture(new BackendException("RL-220 unreachable"));
    }
}
