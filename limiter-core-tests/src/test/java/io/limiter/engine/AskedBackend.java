package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.kit.Relay;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;

/** A backend that counts what it is asked, and whose answers a test can hold back or replace by failures. */
class AskedBackend extends Relay {
    final List<List<Charge>> asked = new ArrayList<>();
    final List<Decision> refunded = new ArrayList<>();
    final Deque<Runnable> heldBack = new ConcurrentLinkedDeque<>();
    int granted;
    boolean holdsBack;
    boolean isDown;
    /** An error is thrown at once. */
    Throwable outage = new BackendException("down");

    AskedBackend(Backend backend) {
        super(backend);
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        asked.add(charges);
        if (isDown) {
            if (outage instanceof Error error) {
                throw error;
            }
            return CompletableFuture.failedFuture(outage);
        }
        CompletableFuture<Decision> decision = inner().decide(charges, mode).toCompletableFuture();
        granted += decision.join().allowed() ? 1 : 0;
        if (!holdsBack) {
            return decision;
        }
        CompletableFuture<Decision> later = new CompletableFuture<>();
        heldBack.add(() -> later.complete(decision.join()));
        return later;
    }

    /** Gives the answers that were held back. */
    void answer() {
        while (!heldBack.isEmpty()) {
            heldBack.poll().run();
        }
    }

    /** The same, and holds back no more. */
    void answerAll() {
        holdsBack = false;
        answer();
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        refunded.add(decision);
        return inner().refund(decision);
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return isDown ? CompletableFuture.failedFuture(outage) : inner().reset(policy, key);
    }
}
