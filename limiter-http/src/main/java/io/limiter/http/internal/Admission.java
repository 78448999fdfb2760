package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.http.internal.request.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The way of one dispatch of a request through a door: what it is charged, and whether it is admitted, answered or held. It holds the
 * answer; {@link DispatchCharges} the charges of this dispatch, the {@link RequestLedger} those of the whole request, and {@link
 * HeldPlaces} the requests that wait. The door reads the request, writes the answer, and tells the ledger the end. Thread-safe; the
 * ledger is locked while it is changed here, except in a first dispatch that is decided at once, which has the request to itself.
 *
 * <p>An answer that is known at once makes no future. If the thread of the request may block, it waits for the backend; no thread waits
 * for permits.
 */
public abstract class Admission implements HeldPlaces.Refusable {
    private static final int UNAVAILABLE = 503;

    private final HttpRules http;
    /** Of the requests that the door holds. */
    protected final HeldPlaces places;

    private final RuleRequest request;
    private final boolean isBlocking;
    private final boolean isAlone;
    private DispatchCharges charges = DispatchCharges.NONE;
    /** What the enforced rules charge, less what earlier dispatches of the request were charged. */
    private List<Charge> due = List.of();
    /** The shadow charges that are counted when the dispatch is admitted. */
    private List<Charge> shadows = List.of();

    /** Completes with the decision, or with null if nothing is due. The field is null if the answer was known at once. */
    private @Nullable CompletableFuture<@Nullable Decision> pending;

    private @Nullable Decision decision;
    private @Nullable Throwable failure;
    /** The status of an answer without a decision; 0 for none. */
    private int refusal;
    /** Whether the answer was used, or the request given up: only the first of them has an effect. Guarded by this. */
    private boolean isOver;

    /** Whether the door has ended the wait, because it closes. */
    private volatile boolean isRefused;
    /** The client whose place in {@link #places} it has; null for none. */
    private volatile @Nullable String placeOf;

    /**
     * A way of a request through a door with these rules.
     *
     * @param isBlocking whether the thread that begins it may block
     * @param isAlone whether no other thread can use the request before the answer is known
     */
    protected Admission(HttpRules http, HeldPlaces places, Request request, boolean isBlocking, boolean isAlone) {
        this.http = http;
        this.places = places;
        this.request = http.read(request);
        this.isBlocking = isBlocking;
        this.isAlone = isAlone;
    }

    /** The request of this dispatch, as the door adapts it. */
    protected final Request dispatch() {
        return request.request();
    }

    /** The ledger of the request. Needed only if a rule counts it. */
    protected abstract RequestLedger ledger();

    /** Whether the server can hold this dispatch without a thread. */
    protected boolean canBeHeld() {
        return true;
    }

    /**
     * Charges the request. Null if the answer is known now, to be {@linkplain #use used}; otherwise what completes when it is, unless the
     * request was given up before. Never exceptionally.
     */
    public final @Nullable CompletableFuture<Admission> begin() {
        if (http.isIdle()) {
            return null;
        }
        if (http.denies(request)) {
            refusal = http.config().settings().callers().deniedStatus();
            return null;
        }
        for (int rule : http.candidates(request)) {
            RuleCharge charge = http.charge(rule, request);
            if (charge != null) {
                record(charge);
            }
        }
        if (!isCounted()) {
            return null;
        }
        boolean isPending = false;
        try {
            if (charges.needsPlans()) {
                lookUpPlans();
            } else {
                ask();
            }
            isPending = pending != null && !pending.isDone();
        } finally {
            String own = placeOf;
            if (own != null && isPending) {
                places.hold(this);
            } else if (own != null) {
                places.leave(own);
                placeOf = null;
            }
        }
        return isPending ? whenKnown() : null;
    }

    /** Records what a rule charges; if a later one fails, it stays open. A request that no rule counts has no object for it. */
    private void record(RuleCharge charge) {
        RequestLedger ledger = ledger();
        if (isAlone) {
            record(charge, ledger);
        } else {
            synchronized (ledger) {
                record(charge, ledger);
            }
        }
    }

    private void record(RuleCharge charge, RequestLedger ledger) {
        if (!isCounted()) {
            charges = http.noCharges();
            ledger.begin(request.request(), request.paths());
        }
        charges.record(charge, ledger);
    }

    private boolean isCounted() {
        return charges != DispatchCharges.NONE;
    }

    private CompletableFuture<Admission> whenKnown() {
        CompletableFuture<Admission> known = new CompletableFuture<>();
        pending().whenComplete((decided, failed) -> {
            // Whoever cancels it by giveUp() or tryCancel() handles the request; after refuse() the door has to write
            // the denial.
            if (isRefused || !pending().isCancelled()) {
                known.complete(this);
            }
        });
        return known;
    }

    /**
     * Looks up the plans, unless what is known denies the dispatch. A thread that may block waits for them; otherwise the dispatch is
     * held, and where it can't be, they are not looked up.
     */
    private void lookUpPlans() {
        if (isBlocking) {
            decision = denialWithoutPlans().join();
            if (decision == null) {
                places.await(charges.lookUpPlans(), request.network());
                ask();
            }
            return;
        }
        boolean isHeld = tryTakePlace();
        pending = new CompletableFuture<>();
        denialWithoutPlans().whenComplete((denied, failed) -> {
            if (denied != null || failed != null) {
                complete(denied, failed);
            } else {
                CompletableFuture<?> plans = isHeld ? charges.lookUpPlans() : CompletableFuture.completedFuture(null);
                plans.whenComplete((found, never) -> {
                    try {
                        if (!pending().isDone()) {
                            ask();
                        }
                    } catch (Throwable wrong) {
                        complete(null, wrong);
                    }
                });
            }
        });
    }

    private CompletableFuture<@Nullable Decision> pending() {
        return Objects.requireNonNull(pending);
    }

    /**
     * The denial by rules whose policies are known, so that a client that is denied anyway uses up no lookups. Null if they allow it, or
     * let it wait. Complete if the thread may block.
     */
    private CompletableFuture<@Nullable Decision> denialWithoutPlans() {
        RequestLedger ledger = ledger();
        synchronized (ledger) {
            due = ledger.due(charges.enforced());
        }
        if (due.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        PermitRequest permits = isBlocking ? PermitRequest.of(due).withBlocking() : PermitRequest.of(due);
        return charges.mayWait(due)
                ? http.limiter()
                        .acquireAsync(permits.withLook())
                        .thenCompose(look -> look.allowed() || charges.mayWaitFor(look)
                                ? CompletableFuture.<@Nullable Decision>completedFuture(null)
                                : countedDenial(permits))
                : countedDenial(permits);
    }

    /** The denial, which counts as one; null if the limits allow it, which takes nothing. */
    private CompletableFuture<@Nullable Decision> countedDenial(PermitRequest permits) {
        return http.limiter()
                .acquireAsync(permits.withCheck())
                .thenApply(checked -> checked.allowed() ? null : checked);
    }

    /** Asks for what is due: on the thread that brings the request, or after the lookup of plans, which the dispatch was held for. */
    private void ask() {
        RequestLedger ledger = ledger();
        if (isAlone) {
            addTo(ledger);
        } else {
            synchronized (ledger) {
                addTo(ledger);
            }
        }
        if (due.isEmpty()) {
            if (pending != null) {
                pending.complete(null);
            }
            return;
        }
        Duration reserved = charges.reservedFor(due);
        boolean mayWait = reserved == null && charges.mayWait(due);
        if (isBlocking && !mayWait) {
            decision = reserved == null ? takeNow() : ledger.note(http.limiter().reserve(due, reserved));
        } else {
            askWithoutBlocking(ledger, reserved, mayWait);
        }
    }

    private void askWithoutBlocking(RequestLedger ledger, @Nullable Duration reserved, boolean mayWait) {
        // One that may not be held does not wait; with a wait of zero it does not overtake those that wait.
        boolean isHeld = mayWait && (pending == null ? tryTakePlace() : placeOf != null);
        CompletableFuture<Decision> answer;
        if (reserved != null) {
            answer = http.limiter().reserveAsync(due, reserved).thenApply(ledger::note);
        } else {
            PermitRequest permits = PermitRequest.of(due).withEnd();
            permits = isBlocking ? permits.withBlocking() : permits;
            answer = http.limiter()
                    .acquireAsync(
                            mayWait
                                    ? permits.withMaxWait(charge -> isHeld ? charges.maxWait(charge) : Duration.ZERO)
                                    : permits);
        }
        if (pending == null && answer.isDone() && (isBlocking || !answer.isCompletedExceptionally())) {
            decision = answer.join();
            return;
        }
        pending = pending == null ? new CompletableFuture<>() : pending;
        if (isHeld) {
            // A client that has gone leaves the queue. What does not wait must be known, to be given back.
            pending.whenComplete((decided, gone) -> answer.cancel(false));
        }
        answer.whenComplete(this::complete);
    }

    private void addTo(RequestLedger ledger) {
        charges.recordPending(ledger);
        due = ledger.addCharges(charges.enforced());
        shadows = ledger.addShadows(charges.shadows());
    }

    private Decision takeNow() {
        Charge first = due.get(0);
        return due.size() == 1 && first.isPlain() && !first.policy().isInFlight()
                ? http.limiter().tryAcquire(first.policy(), first.key(), first.permits())
                : http.limiter().tryAcquire(PermitRequest.of(due).withEnd());
    }

    private void complete(@Nullable Decision decided, @Nullable Throwable failed) {
        if (failed != null) {
            pending().completeExceptionally(failed);
        } else if (!pending().complete(decided)) {
            giveBack(decided);
        }
    }

    /** Takes a place, if the dispatch has none. */
    private boolean tryTakePlace() {
        if (placeOf == null && canBeHeld()) {
            String client = request.network();
            placeOf = places.tryEnter(client) ? client : null;
        }
        return placeOf != null;
    }

    /** Whether the answer is used, or given up, for the first time. */
    private synchronized boolean tryEnd() {
        boolean isFirst = !isOver;
        isOver = true;
        return isFirst;
    }

    /**
     * Uses the answer, on the thread that goes on with the request. False if the request was given up. A door that answers a request
     * that is not admitted calls {@link #release} after the answer.
     */
    public final boolean use() {
        if (pending != null) {
            if (!tryEnd()) {
                return false;
            }
            if (pending.isCompletedExceptionally()) {
                refusal = UNAVAILABLE;
                failure = isRefused
                        ? null
                        : pending.handle((none, failed) -> failed).join();
            } else {
                decision = pending.join();
            }
        }
        if (!isCounted() && refusal == 0) {
            return true;
        }
        RequestLedger ledger = ledger();
        if (isAlone && pending == null) {
            note(ledger);
        } else {
            synchronized (ledger) {
                note(ledger);
            }
        }
        if (decision != null) {
            request.request().setAttribute(HttpRules.DECISION, decision);
        }
        if (isAdmitted()) {
            release();
        }
        return true;
    }

    private void note(RequestLedger ledger) {
        ledger.note(decision);
        if (!isAdmitted()) {
            ledger.keep();
            return;
        }
        ledger.allow();
        if (!shadows.isEmpty()) {
            ledger.note(http.countShadows(shadows));
        }
    }

    /** After {@link #use}: whether the application gets the request. */
    public final boolean isAdmitted() {
        return refusal == 0 && (decision == null || decision.allowed());
    }

    /** After {@link #use}: the decision that denies or admits the request; null for none. */
    public final @Nullable Decision decision() {
        return decision;
    }

    /** After {@link #use}: the status of an answer without a decision; 0 if there is a decision, or no rule counts it. */
    public final int refusal() {
        return refusal;
    }

    /** After {@link #use}: why there is no decision; null if nothing has failed. */
    public final @Nullable Throwable failure() {
        return failure;
    }

    /** Whether the answer of a dispatch that is held will be an admission. */
    protected final boolean isAllowed() {
        return !pending().isCompletedExceptionally()
                && (pending().join() == null || pending().join().allowed());
    }

    /** Whether the door has ended the wait, because it closes. */
    protected final boolean isRefused() {
        return isRefused;
    }

    /** Ends the wait for the answer, which is then an outage; false if it is known, or the door has refused the request. */
    protected final boolean tryCancel() {
        return !isRefused && pending().cancel(false);
    }

    @Override
    public final void refuse() {
        isRefused = true;
        pending().cancel(false);
    }

    /** Returns the place of a request that was held. */
    public final void release() {
        if (placeOf != null) {
            places.release(this, placeOf);
        }
    }

    /** The client has gone: before the decision it takes nothing; after it, it keeps what it took. */
    public final void giveUp() {
        // Also after use(): a client that has left needs no place, even while its answer is being written.
        release();
        if (tryEnd() && !pending().cancel(false)) {
            pending().thenAccept(ledger()::giveUp);
        }
    }

    /** The application can't run, because the server has no thread for it: what was taken is given back. */
    public final void giveBack() {
        if (tryEnd()) {
            release();
            pending().thenAccept(this::giveBack);
        }
    }

    private void giveBack(@Nullable Decision late) {
        if (late != null && late.allowed()) {
            ledger().giveBack(late);
        }
    }

    /** The application never runs, because what follows the answer has failed: what it took is kept. */
    public final void fail() {
        release();
        ledger().giveUp(decision);
    }
}
