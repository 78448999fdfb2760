package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.http.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One way of a request through a door whose threads never wait: what it is charged, and whether it is admitted, answered or held.
 * Thread-safe; the ledger is locked while it is changed here.
 */
public final class Admission implements HeldPlaces.Refusable {
    /** No rule counts the request. */
    public static final Answer UNCOUNTED = new Answer(0, null, null);

    private static final int UNAVAILABLE = 503;

    private final HttpRules http;
    private final HeldPlaces places;
    private final RuleRequest asked;
    private final RequestLedger ledger;
    private final DispatchCharges charges;
    private final LaterDecision later;
    /** Whether the decision was used, or given up. */
    private final AtomicBoolean isOver = new AtomicBoolean();

    private volatile boolean isRefused;
    /** The client whose place it has while it is held; null if it was never held. */
    private volatile @Nullable String held;

    /**
     * What becomes of a request.
     *
     * @param refused the status that it is answered with, without a decision; 0 if it is not
     * @param decision that denies or admits it; null for none
     * @param failure why there is no decision; null if nothing has failed
     */
    public record Answer(
            int refused,
            @Nullable Decision decision,
            @Nullable Throwable failure) {
        /** Whether the application gets it. */
        public boolean isAdmitted() {
            return refused == 0 && failure == null && (decision == null || decision.allowed());
        }
    }

    /** A way of a request through a door with these rules. */
    public Admission(HttpRules http, HeldPlaces places, Request request, RequestLedger ledger) {
        this.http = http;
        this.places = places;
        this.asked = http.read(request);
        this.ledger = ledger;
        this.charges = http.noCharges();
        this.later = new LaterDecision(http, charges, ledger);
    }

    /** Charges the request. The answer is complete if it is known now, never exceptional, and to be {@linkplain #use used}. */
    public CompletableFuture<Answer> begin() {
        if (http.isIdle()) {
            return CompletableFuture.completedFuture(UNCOUNTED);
        }
        if (http.tryDeny(asked)) {
            return CompletableFuture.completedFuture(
                    new Answer(http.config().settings().callers().deniedStatus(), null, null));
        }
        synchronized (ledger) {
            try {
                http.charge(asked, charges);
            } finally {
                // What was counted before one fails stays open.
                if (!charges.isEmpty()) {
                    ledger.forgetOpen();
                    charges.record(ledger);
                }
            }
        }
        if (charges.isEmpty()) {
            return CompletableFuture.completedFuture(UNCOUNTED);
        }
        boolean mayWait = charges.isPending() || charges.mayWait(charges.enforced());
        String client = mayWait ? asked.network() : null;
        if (client == null || !places.tryEnter(client)) {
            later.start(false);
        } else {
            later.start(true);
            if (later.answer().isDone()) {
                places.leave(client);
            } else {
                held = client;
                places.hold(this);
            }
        }
        return later.answer().handle((decision, failure) -> new Answer(0, decision, failure));
    }

    /**
     * Uses the answer, on the thread that goes on with the request. Null if the request was given up. Whoever answers a request
     * that is not admitted calls {@link #release} then.
     */
    public @Nullable Answer use(Answer answer) {
        if (!isOver.compareAndSet(false, true)) {
            return null;
        }
        if (answer.failure != null) {
            return isRefused ? new Answer(UNAVAILABLE, null, null) : answer;
        }
        Decision decision = answer.decision;
        if (decision != null) {
            asked.request().setAttribute(HttpRules.DECISION, decision);
        }
        if (!answer.isAdmitted()) {
            synchronized (ledger) {
                ledger.keep();
            }
        } else if (!charges.isEmpty()) {
            release();
            List<Charge> shadowed = later.shadowed();
            synchronized (ledger) {
                ledger.note(decision);
                ledger.keepOpen();
                // Also what later doors take ends with the request.
                if (ledger.hasEnd()) {
                    ledger.expectEnd();
                }
                if (!shadowed.isEmpty()) {
                    ledger.note(http.countShadows(shadowed));
                }
            }
        }
        return answer;
    }

    /** Returns the place of a request that was held. */
    public void release() {
        if (held != null) {
            places.release(this, held);
        }
    }

    @Override
    public void refuse() {
        isRefused = true;
        later.answer().cancel(false);
    }

    /** The client has gone: before the decision it takes nothing; after it, it keeps what it took. */
    public void giveUp() {
        if (!isOver.compareAndSet(false, true)) {
            return;
        }
        release();
        if (!later.answer().cancel(false)) {
            later.answer().thenAccept(this::giveUp);
        }
    }

    /** The application can't run, because the server has no thread for it: what was taken is given back. */
    public void giveBack(Answer answer) {
        if (isOver.compareAndSet(false, true)) {
            release();
            later.giveBack(answer.decision);
        }
    }

    /** The application never runs, because what follows the answer has failed: what it took is kept. */
    public void fail(Answer answer) {
        release();
        giveUp(answer.decision);
    }

    private void giveUp(@Nullable Decision late) {
        synchronized (ledger) {
            ledger.giveUp(late);
        }
    }
}
