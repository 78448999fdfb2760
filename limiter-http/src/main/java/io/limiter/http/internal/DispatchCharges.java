package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.internal.config.RequestCost.ActualCost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the rules that count a dispatch charge it. A rule charges a request once, even if its key has changed because of a
 * login within the request. Used by one thread at a time.
 */
final class DispatchCharges {
    /** Those of a dispatch that no rule counts. */
    static final DispatchCharges NONE = new DispatchCharges(false, false);

    private final boolean hasEnd;
    private final boolean mayWait;
    private List<Charge> enforced = List.of();
    private List<Charge> shadows = List.of();
    private List<RuleCharge> pending = List.of();
    /** Those that charge, if they may wait or have an end. */
    private List<RuleCharge> recorded = List.of();

    /**
     * Without charges yet.
     *
     * @param hasEnd whether a rule may have something to do when the request ends
     * @param mayWait whether a rule lets requests wait
     */
    DispatchCharges(boolean hasEnd, boolean mayWait) {
        this.hasEnd = hasEnd;
        this.mayWait = mayWait;
    }

    /** Records a rule that is new to the request, when its charge is known. */
    void record(RuleCharge rule, RequestLedger ledger) {
        Charge charge = rule.charge();
        if (charge == null) {
            pending = ledger.has(rule.rule().identity()) ? pending : RuleCharge.with(rule, pending);
        } else if (rule.rule().isShadow()) {
            shadows = ledger.add(rule.rule().identity()) ? with(charge, shadows) : shadows;
        } else if (ledger.add(rule, hasEnd)) {
            enforced = with(charge, enforced);
            if (mayWait || hasEnd) {
                recorded = RuleCharge.with(rule, recorded);
            }
        }
    }

    /** Whether a rule needs a plan that is not known. */
    boolean needsPlans() {
        return !pending.isEmpty();
    }

    /** Begins the lookups of all plans. Completes when they have ended, never exceptionally. */
    CompletableFuture<?> lookUpPlans() {
        return CompletableFuture.allOf(pending.stream()
                .map(RuleCharge::pending)
                .map(one -> Objects.requireNonNull(one).lookup().get())
                .toArray(CompletableFuture[]::new));
    }

    /** Records the rules whose plans were looked up, if they are new to the request. */
    void recordPending(RequestLedger ledger) {
        for (RuleCharge one : pending) {
            Charge known = Objects.requireNonNull(one.pending()).charge().get();
            if (known != null) {
                record(new RuleCharge(one.rule(), known, null), ledger);
            }
        }
    }

    /**
     * The recorded charges of enforced rules. If two rules charge one policy for one key and member, only the larger
     * charge counts, so that a request is counted once.
     */
    List<Charge> enforced() {
        return enforced;
    }

    /** The same of shadow rules. */
    List<Charge> shadows() {
        return shadows;
    }

    /** How long the request may wait if a charge is denied: the shortest wait of the configured rules that make it. */
    Duration maxWait(Charge charge) {
        return recorded.stream()
                .filter(rule -> rule.isToSame(charge))
                .flatMap(one -> Stream.ofNullable(one.rule().maxWait()))
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** How long what is due is reserved, by the rules that settle one of its charges; null if none does. */
    @Nullable
    Duration reservedFor(List<Charge> due) {
        Duration longest = null;
        // No stream: called for each request.
        for (RuleCharge rule : recorded) {
            ActualCost actual = rule.rule().actual();
            if (actual != null
                    && (longest == null || longest.compareTo(actual.within()) < 0)
                    && due.stream().anyMatch(rule::isToSame)) {
                longest = actual.within();
            }
        }
        return longest;
    }

    /** Whether it may wait for one of these charges. */
    boolean mayWait(List<Charge> due) {
        return mayWait && due.stream().anyMatch(charge -> !maxWait(charge).isZero());
    }

    /** Whether what a limit denies may wait for it. */
    boolean mayWaitFor(Decision denial) {
        List<LimitOutcome> violated = denial.violated();
        return !violated.isEmpty()
                && violated.stream()
                        .allMatch(one -> !maxWait(one.charge()).isZero()
                                && one.retryAfterMicros() != LimitOutcome.NEVER
                                && one.retryAfterMicros()
                                        <= maxWait(one.charge()).toNanos() / 1_000);
    }

    /** Charges and one more; the list may be the same one. */
    static List<Charge> with(Charge charge, List<Charge> before) {
        if (before.isEmpty()) {
            return List.of(charge);
        }
        List<Charge> charges = before.size() > 1 ? before : new ArrayList<>(before);
        for (int i = 0; i < charges.size(); i++) {
            Charge other = charges.get(i);
            if (other.isToSame(charge)) {
                charges.set(i, charge.permits() > other.permits() ? charge : other);
                return charges;
            }
        }
        charges.add(charge);
        return charges;
    }
}
