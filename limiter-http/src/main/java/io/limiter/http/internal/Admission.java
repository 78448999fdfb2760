package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.http.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The way of one dispatch of a request through a door: what it is charged, and whether it is admitted, answered or held. It holds the
 * answer; {@link DispatchCharges} the charges of this dispatch, the {@link RequestLedger} those of the whole request, and {@link
 * HeldPlaces} the requests that wait. The door reads the request, writes the answer, and tells the ledger the end. Thread-safe; the
 * ledger is locked while it is changed here, but not where one thread at a time has the request, which may block.
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
    private DispatchCharges charges = DispatchCharges.NONE;
    /** The shadow charges that are counted when the dispatch is admitted. */
    private List<Charge> shadows = List.of();

    /** Gets the decision, or null if nothing is due; null itself if the answer was known at once. */
    private @Nullable CompletableFuture<@Nullable Decision> later;

    private @Nullable Decision decision;
    private @Nullable Throwable failure;
    private int refusal;
    /** Whether the answer was used, or given up; guarded by this. */
    private boolean isOver;

    private volatile boolean isRefused;
    /** The client whose place it has while it is held; null for none. */
    private volatile @Nullable String client;

    /**
     * A way of a request through a door with these rules.
     *
     * @param isBlocking whether the thread that begins it may block
     */
    protected Admission(HttpRules http, HeldPlaces places, Request request, boolean isBlocking) {
        this.http = http;
        this.places = places;
        this.request = http.read(request);
        this.isBlocking = isBlocking;
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
        if (http.tryDeny(request)) {
            refusal = http.config().settings().callers().deniedStatus();
            return null;
        }
        try {
            charge();
        } finally {
            // What was counted before one fails stays open.
            record();
        }
        if (charges.isEmpty()) {
            return null;
        }
        boolean isLater = false;
        try {
            if (charges.isPending()) {
                lookUpPlans();
            } else {
                ask();
            }
            isLater = later != null && !later.isDone();
        } finally {
            String own = client;
            if (own != null && isLater) {
                places.hold(this);
            } else if (own != null) {
                places.leave(own);
                client = null;
            }
        }
        return isLater ? known() : null;
    }

    /** Collects what the rules charge. A request that none counts has no object for it. */
    private void charge() {
        for (int rule : http.candidates(request)) {
            RuleCharge charge = http.charge(rule, request);
            if (charge != null) {
                charges = charges.isEmpty() ? http.noCharges() : charges;
                charges.add(charge);
            }
        }
    }

    private void record() {
        if (charges.isEmpty()) {
            return;
        }
        RequestLedger ledger = ledger();
        if (isBlocking) {
            record(ledger);
        } else {
            synchronized (ledger) {
                record(ledger);
            }
        }
    }

    private void record(RequestLedger ledger) {
        ledger.begin(request);
        charges.record(ledger);
    }

    private CompletableFuture<Admission> known() {
        CompletableFuture<Admission> known = new CompletableFuture<>();
        later().whenComplete((decided, failed) -> {
            if (isRefused || !later().isCancelled()) {
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
            decision = denial().join();
            if (decision == null) {
                places.await(charges.lookUpPlans(), request.network());
                ask();
            }
            return;
        }
        boolean isHeld = tryEnter();
        later = new CompletableFuture<>();
        denial().whenComplete((denied, failed) -> {
            if (denied != null || failed != null) {
                complete(denied, failed);
            } else if (isHeld) {
                charges.lookUpPlans().whenComplete((found, never) -> askLater());
            } else {
                askLater();
            }
        });
    }

    private void askLater() {
        try {
            if (!later().isDone()) {
                ask();
            }
        } catch (Throwable failed) {
            complete(null, failed);
        }
    }

    private CompletableFuture<@Nullable Decision> later() {
        return Objects.requireNonNull(later);
    }

    /**
     * The denial by rules whose policies are known, so that a client that is denied anyway uses up no lookups. Null if they allow it, or
     * let it wait. Complete if the thread may block.
     */
    private CompletableFuture<@Nullable Decision> denial() {
        List<Charge> due;
        synchronized (ledger()) {
            due = ledger().due(charges.enforced());
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
                                : checked(permits))
                : checked(permits);
    }

    private CompletableFuture<@Nullable Decision> checked(PermitRequest permits) {
        return http.limiter()
                .acquireAsync(permits.withCheck())
                .thenApply(checked -> checked.allowed() ? null : checked);
    }

    /** Asks for what is due: on the thread that brings the request, or after the lookup of plans, which the dispatch was held for. */
    private void ask() {
        List<Charge> due = due();
        if (due.isEmpty()) {
            if (later != null) {
                later.complete(null);
            }
            return;
        }
        Duration reserved = charges.reservedFor(due);
        boolean mayWait = reserved == null && charges.mayWait(due);
        if (isBlocking && !mayWait) {
            decision =
                    reserved == null ? taken(due) : ledger().note(http.limiter().reserve(due, reserved));
            return;
        }
        // One that may not be held waits for nothing, and passes no other.
        boolean isHeld = mayWait && (later == null ? tryEnter() : client != null);
        CompletableFuture<Decision> answer;
        if (reserved != null) {
            answer = http.limiter().reserveAsync(due, reserved).thenApply(ledger()::note);
        } else {
            PermitRequest permits = PermitRequest.of(due).withEnd();
            permits = isBlocking ? permits.withBlocking() : permits;
            answer = http.limiter()
                    .acquireAsync(
                            mayWait
                                    ? permits.withMaxWait(charge -> isHeld ? charges.maxWait(charge) : Duration.ZERO)
                                    : permits);
        }
        if (later == null && answer.isDone() && (isBlocking || !answer.isCompletedExceptionally())) {
            decision = answer.join();
            return;
        }
        later = later == null ? new CompletableFuture<>() : later;
        if (isHeld) {
            // A client that has gone leaves the queue. What does not wait must be known, to be given back.
            later.whenComplete((decided, gone) -> answer.cancel(false));
        }
        answer.whenComplete(this::complete);
    }

    /** What is due, also with the plans that were looked up. */
    private List<Charge> due() {
        RequestLedger ledger = ledger();
        if (isBlocking) {
            return due(ledger);
        }
        synchronized (ledger) {
            return due(ledger);
        }
    }

    private List<Charge> due(RequestLedger ledger) {
        charges.recordPending(ledger);
        List<Charge> due = ledger.addCharges(charges.enforced());
        shadows = ledger.addShadows(charges.shadows());
        http.warnOfTwoDoors(ledger.chargedByAnother(due));
        return due;
    }

    private Decision taken(List<Charge> due) {
        Charge first = due.get(0);
        return due.size() == 1 && first.isPlain() && !first.policy().isInFlight()
                ? http.limiter().tryAcquire(first.policy(), first.key(), first.permits())
                : http.limiter().tryAcquire(PermitRequest.of(due).withEnd());
    }

    private void complete(@Nullable Decision decided, @Nullable Throwable failed) {
        if (failed != null) {
            later().completeExceptionally(failed);
        } else if (!later().complete(decided)) {
            giveBack(decided);
        }
    }

    /** Takes a place, if the dispatch has none. */
    private boolean tryEnter() {
        if (client == null && canBeHeld()) {
            String own = request.network();
            client = places.tryEnter(own) ? own : null;
        }
        return client != null;
    }

    /** Whether the answer is used, or given up, for the first time. */
    private synchronized boolean tryEnd() {
        boolean isFirst = !isOver;
        isOver = true;
        return isFirst;
    }

    /**
     * Uses the answer, on the thread that goes on with the request. False if the request was given up. Whoever answers a request that
     * is not admitted calls {@link #release} then.
     */
    public final boolean use() {
        if (later != null) {
            if (!tryEnd()) {
                return false;
            }
            if (later.isCompletedExceptionally()) {
                refusal = UNAVAILABLE;
                failure = isRefused
                        ? null
                        : later.handle((none, failed) -> failed).join();
            } else {
                decision = later.join();
            }
        }
        if (charges.isEmpty() && refusal == 0) {
            return true;
        }
        if (isBlocking) {
            note(ledger());
        } else {
            synchronized (ledger()) {
                note(ledger());
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
        return !later().isCompletedExceptionally()
                && (later().join() == null || later().join().allowed());
    }

    /** Whether the door does not hold any more. */
    protected final boolean isRefused() {
        return isRefused;
    }

    /** Ends the wait for the answer, which is then an outage; false if it is known, or the door has refused the request. */
    protected final boolean tryCancel() {
        return !isRefused && later().cancel(false);
    }

    @Override
    public final void refuse() {
        isRefused = true;
        later().cancel(false);
    }

    /** Returns the place of a request that was held. */
    public final void release() {
        if (client != null) {
            places.release(this, client);
        }
    }

    /** The client has gone: before the decision it takes nothing; after it, it keeps what it took. */
    public final void giveUp() {
        if (tryEnd()) {
            release();
            if (!later().cancel(false)) {
                later().thenAccept(this::keep);
            }
        }
    }

    /** The application can't run, because the server has no thread for it: what was taken is given back. */
    public final void giveBack() {
        if (tryEnd()) {
            release();
            later().thenAccept(this::giveBack);
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
        keep(decision);
    }

    private void keep(@Nullable Decision late) {
        RequestLedger ledger = ledger();
        synchronized (ledger) {
            ledger.giveUp(late);
        }
    }
}
