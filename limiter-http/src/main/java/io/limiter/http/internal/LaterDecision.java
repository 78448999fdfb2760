package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The decision about a dispatch that does not occupy its thread: while plans are looked up, while it waits for permits, and,
 * where threads must never wait, until the backend answers. Thread-safe; its ledger is locked while it is changed here.
 */
public final class LaterDecision {
    private final HttpRules http;
    private final DispatchCharges charges;
    private final RequestLedger ledger;
    private final CompletableFuture<@Nullable Decision> answer = new CompletableFuture<>();
    private final List<Charge> shadowed = new ArrayList<>(0);

    /** A decision about charges that were recorded, as far as they are known. */
    public LaterDecision(HttpRules http, DispatchCharges charges, RequestLedger ledger) {
        this.http = http;
        this.charges = charges;
        this.ledger = ledger;
    }

    /**
     * The decision; null if nothing is due. Whoever cancels it leaves the queue, and gets back what is granted nevertheless.
     */
    public CompletableFuture<@Nullable Decision> answer() {
        return answer;
    }

    /** The shadow charges that are counted when the dispatch is admitted. */
    public List<Charge> shadowed() {
        return shadowed;
    }

    /**
     * The denial by rules whose policies are known, so that a client that is denied anyway uses up no lookups. Null if
     * they allow it, or let it wait.
     *
     * @param isBlocking whether the thread may wait for the backend; the future is complete then
     */
    public CompletableFuture<@Nullable Decision> denial(boolean isBlocking) {
        List<Charge> due = ledger.due(charges.enforced());
        if (due.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        PermitRequest request = isBlocking ? PermitRequest.of(due).withBlocking() : PermitRequest.of(due);
        return charges.mayWait(due)
                ? http.limiter()
                        .acquireAsync(request.withLook())
                        .thenCompose(seen -> seen.allowed() || charges.mayWaitFor(seen)
                                ? CompletableFuture.<@Nullable Decision>completedFuture(null)
                                : checked(request))
                : checked(request);
    }

    private CompletableFuture<@Nullable Decision> checked(PermitRequest request) {
        return http.limiter()
                .acquireAsync(request.withCheck())
                .thenApply(checked -> checked.allowed() ? null : checked);
    }

    /**
     * Looks up the plans, unless what is known denies the dispatch, and asks. Never blocks.
     *
     * @param isHeld whether it may wait for lookups and permits
     */
    public void start(boolean isHeld) {
        if (!charges.isPending()) {
            ask(isHeld);
            return;
        }
        denial(false).whenComplete((denial, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (denial != null) {
                answer.complete(denial);
            } else if (isHeld) {
                charges.lookUpPlans().whenComplete((found, never) -> ask(true));
            } else {
                ask(false);
            }
        });
    }

    /**
     * Asks, with the plans that were looked up. Never blocks.
     *
     * @param isHeld whether it may wait for permits
     */
    public void ask(boolean isHeld) {
        if (answer.isDone()) {
            return;
        }
        try {
            List<Charge> due = due();
            if (due.isEmpty()) {
                answer.complete(null);
                return;
            }
            Duration reserved = charges.reservedFor(due);
            boolean mayWait = charges.mayWait(due);
            PermitRequest request = PermitRequest.of(due).withEnd();
            CompletableFuture<Decision> asking = reserved != null
                    ? http.limiter().reserveAsync(due, reserved).thenApply(ledger::note)
                    : http.limiter()
                            .acquireAsync(
                                    mayWait
                                            // One that may not be held waits for nothing, and passes no other.
                                            ? request.withMaxWait(
                                                    charge -> isHeld ? charges.maxWait(charge) : Duration.ZERO)
                                            : request);
            if (reserved == null && isHeld && mayWait) {
                // A client that has gone leaves the queue. What does not wait must be known, to be given back.
                answer.whenComplete((decision, gone) -> asking.cancel(false));
            }
            asking.whenComplete((decision, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else if (!answer.complete(decision)) {
                    giveBack(decision);
                }
            });
        } catch (RuntimeException wrong) {
            answer.completeExceptionally(wrong);
        }
    }

    private List<Charge> due() {
        synchronized (ledger) {
            charges.recordPending(ledger);
            List<Charge> due = ledger.addCharges(charges.enforced());
            shadowed.addAll(ledger.addShadows(charges.shadows()));
            http.warnOfTwoDoors(ledger.chargedByAnother(due));
            return due;
        }
    }

    /** Gives back what a decision took that came too late, because the request has ended; null if nothing was due. */
    public void giveBack(@Nullable Decision late) {
        if (late != null && late.allowed()) {
            ledger.giveBack(late);
        }
    }
}
