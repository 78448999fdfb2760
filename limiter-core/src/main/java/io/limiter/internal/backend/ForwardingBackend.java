package io.limiter.internal.backend;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;

/** A backend that asks another one. What that prepares for a policy, and its shorter paths, are not used. */
public abstract class ForwardingBackend implements Backend {
    /** The backend to ask. */
    protected abstract Backend inner();

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return inner().decide(charges, mode);
    }

    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        return inner().reserve(charges, terms);
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        return inner().settle(held, terms, actual);
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return inner().refund(decision);
    }

    @Override
    public CompletionStage<Boolean> confirm(Decision decision) {
        return inner().confirm(decision);
    }

    @Override
    public void announce(Policy policy) {
        inner().announce(policy);
    }

    @Override
    public void retract(Policy policy) {
        inner().retract(policy);
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return inner().reset(policy, key);
    }

    @Override
    public Backend.Health health() {
        return inner().health();
    }

    @Override
    public void close() {
        inner().close();
    }
}
