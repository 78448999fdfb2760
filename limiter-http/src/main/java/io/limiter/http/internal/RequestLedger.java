package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.http.internal.request.Request;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The charges of one request on one rate limiter, kept as a request attribute. A request reaches a limiter again when
 * it is forwarded, when it is dispatched after asynchronous work, or when a filter is mapped twice; it is still one
 * request, even if the configuration is replaced in the meantime. Filters of two rate limiters count separately, but
 * know of each other.
 *
 * <p>Who holds what: here are the charges of all dispatches, and the decisions that took permits until the end of the request; an {@link
 * Admission} has those of one dispatch. Used by one thread at a time: a door whose requests change threads locks the ledger around each
 * use. Methods are synchronized where a decision or the end may come while another thread has the request.
 *
 * <p>Permits that it took may be refunded when the application has completed: at the end of its first dispatch, or of
 * its asynchronous work. A request that ends in another way (an exception, a timeout, a broken connection) gets no
 * refund, so that a client can't avoid being counted by ending a request early. Estimates are settled in any case.
 */
public class RequestLedger {
    /**
     * Not a plain name: a request can be forwarded from one application into another, which has these classes from
     * another class loader.
     */
    private static final String ATTRIBUTE = RequestLedger.class.getName() + "." + UUID.randomUUID();

    private final RateLimiter owner;
    private final @Nullable RequestLedger earlier;

    /** What was charged: identities of rules, a {@link Charge}, or a {@link Shadowed}. Few, so a linear search suffices. */
    private final List<Object> charged = new ArrayList<>(2);

    /** How many of them, the first ones, belong to allowed dispatches. The rest are open: they belong to the current dispatch. */
    private int allowedCount;

    /** Whether something may be due at the end of the request: a refund, a settlement, or the end of permits in flight. */
    private boolean awaitsEnd;

    /** Whether the client has left before the end. Set by the door, on any thread. */
    protected volatile boolean isLeft;

    /** The rules that have charged what it took, if it awaits the end: they decide then what is given back. */
    private List<RuleCharge> atEnd = List.of();

    /** What waits for the end. Guarded by this: a decision may arrive on another thread. */
    private List<Taken> taken = List.of();

    /** What shadow rules took, which is ended with the request. */
    private List<CompletableFuture<Decision>> shadowDecisions = List.of();

    /** A shadow charge. It does not replace an enforced one. */
    private record Shadowed(Charge charge) {}

    /**
     * What a decision took.
     *
     * @param hold of its estimates; null if it has none
     * @param noRefund whether nothing of it is given back, whatever the response
     */
    private record Taken(Decision decision, @Nullable Hold hold, boolean noRefund) {}

    /**
     * An empty ledger.
     *
     * @param earlier of another owner for the same request
     */
    public RequestLedger(RateLimiter owner, @Nullable RequestLedger earlier) {
        this.owner = owner;
        this.earlier = earlier;
    }

    /**
     * The ledger of the request for this owner.
     *
     * @param type of the ledgers, all those of one door
     * @param maker makes a new one, after an earlier one of another owner if there is one
     */
    public static <L extends RequestLedger> L of(
            Request request,
            RateLimiter owner,
            Class<L> type,
            BiFunction<RateLimiter, @Nullable RequestLedger, L> maker) {
        RequestLedger latest = request.attribute(ATTRIBUTE) instanceof RequestLedger known ? known : null;
        for (RequestLedger one = latest; one != null; one = one.earlier) {
            if (one.owner == owner) {
                return type.cast(one);
            }
        }
        L fresh = maker.apply(owner, latest);
        request.setAttribute(ATTRIBUTE, fresh);
        return fresh;
    }

    /** Whether the current dispatch has charges that were not allowed: it is denied, or not decided yet. */
    protected final boolean isOpen() {
        return charged.size() > allowedCount;
    }

    /**
     * Begins a dispatch. Charges of an earlier one that was not allowed, because it was denied or failed, are
     * forgotten, so that a denied request can't be admitted by a new dispatch.
     *
     * @param paths all readings of its path
     */
    protected void begin(Request dispatch, List<String> paths) {
        if (isOpen()) {
            charged.subList(allowedCount, charged.size()).clear();
        }
    }

    /** Allows the dispatch: later ones are not charged again. Until then its charges are open, so that one that fails counts as denied. */
    protected void allow() {
        allowedCount = charged.size();
    }

    /** Expects the end of the application. */
    protected final void expectEnd() {
        awaitsEnd = true;
    }

    /** Whether the rule of this identity was added. */
    boolean has(Object identity) {
        return charged.contains(identity);
    }

    /**
     * Adds the identity of a rule that is only counted, which neither keeps nor gives back what others charge; false if it
     * was added before.
     */
    boolean add(Object identity) {
        return !charged.contains(identity) && charged.add(identity);
    }

    /** Adds a rule that charges; false if it was added before. */
    boolean add(RuleCharge rule, boolean hasEnd) {
        boolean isNew = add(rule.rule().identity());
        // Also for a filter with rules that keep everything: an earlier filter may refund what both charge.
        if (isNew && (hasEnd || awaitsEnd)) {
            awaitsEnd = true;
            atEnd = RuleCharge.with(rule, atEnd);
        }
        return isNew;
    }

    /**
     * Adds charges, which differ in policy or key; returns those that the request was not charged before. If one costs
     * more than before, the difference is due.
     */
    public final List<Charge> addCharges(List<Charge> charges) {
        List<Charge> due = due(charges);
        for (Charge charge : due) {
            charged.add(charge);
            awaitsEnd |= charge.policy().isInFlight();
        }
        return due;
    }

    /** The same, without adding them. */
    public final List<Charge> due(List<Charge> charges) {
        List<Charge> due = charges;
        for (Charge charge : charges) {
            long before = permits(charge);
            if (before >= 0) {
                due = new ArrayList<>(due);
                due.remove(charge);
                due.addAll(rest(charge, before));
            }
        }
        return due;
    }

    /** What it costs more than before. A request that has cost something is one call already; then limits of calls take no more. */
    private static List<Charge> rest(Charge charge, long before) {
        Policy policy = charge.policy();
        List<Limit> others = policy.limits().stream()
                .filter(limit -> before == 0 || !policy.countsCalls(limit))
                .toList();
        if (charge.permits() <= before
                || others.stream().noneMatch(limit -> limit.algorithm().isQuota())) {
            return List.of();
        }
        Policy due = others.equals(policy.limits()) ? policy : policy.withLimits(others);
        return List.of(new Charge(due, charge.key(), charge.permits() - before, null, charge.member()));
    }

    /** Adds shadow charges; returns those that the request was not charged before, enforced or not. */
    public final List<Charge> addShadows(List<Charge> charges) {
        if (charges.isEmpty()) {
            return charges;
        }
        List<Charge> due = new ArrayList<>();
        for (Charge charge : charges) {
            if (permits(charge) < 0
                    && charged.stream()
                            .noneMatch(one -> one instanceof Shadowed other && charge.isToSame(other.charge))) {
                charged.add(new Shadowed(charge));
                awaitsEnd |= charge.policy().isInFlight();
                due.add(charge);
            }
        }
        return due;
    }

    /** How many permits of that policy for that key were charged; -1 if it was not charged. */
    private long permits(Charge charge) {
        long permits = -1;
        for (Object one : charged) {
            if (one instanceof Charge other && other.isToSame(charge)) {
                permits = Math.max(permits, 0) + other.permits();
            }
        }
        return permits;
    }

    /** Records what a decision took, once; returns it. Null if nothing was due. */
    public final @Nullable Decision note(@Nullable Decision decision) {
        if (awaitsEnd && decision != null) {
            note(decision, null);
        }
        return decision;
    }

    /** Records what a reservation took; returns its decision. Also called on the thread that gets it. */
    public final Decision note(Hold hold) {
        note(hold.decision(), hold);
        return hold.decision();
    }

    private synchronized void note(Decision decision, @Nullable Hold hold) {
        List<Taken> one = decision.allowed() ? List.of(new Taken(decision, hold, false)) : List.of();
        if (taken.isEmpty()) {
            taken = one;
        } else if (taken.stream().noneMatch(other -> other.decision == decision)) {
            taken = Stream.concat(taken.stream(), one.stream()).toList();
        }
    }

    /** Records the decisions of shadow rules, which may come later. */
    public final void note(List<CompletableFuture<Decision>> shadows) {
        if (awaitsEnd) {
            shadowDecisions =
                    Stream.concat(shadowDecisions.stream(), shadows.stream()).toList();
        }
    }

    /** Whether something was taken that has to be ended, settled or perhaps refunded at the end of the request. */
    public final synchronized boolean hasEnd() {
        return !taken.isEmpty() || !shadowDecisions.isEmpty();
    }

    /** Keeps all permits taken so far, whatever the response: a denial is an answer of the limiter, not of the application. */
    public final synchronized void keep() {
        List<Taken> withoutRefund = new ArrayList<>(taken);
        withoutRefund.replaceAll(one -> new Taken(one.decision, one.hold, true));
        taken = withoutRefund;
    }

    /** Whether the door must watch for the client to leave: the request has an estimate, and the client has not left yet. */
    protected final synchronized boolean mayBeLeft() {
        return !isLeft && taken.stream().anyMatch(one -> one.hold != null);
    }

    /** The client has left before the end, so that a cost that was not reported may count as the most that it can be. */
    public final void leave() {
        isLeft = true;
    }

    /** Gives back what a decision took that came too late, because the request has ended. */
    public final synchronized void giveBack(Decision late) {
        for (Taken one : taken) {
            if (one.decision == late && one.hold != null) {
                owner.settleAsync(one.hold, charge -> 0);
            }
        }
        taken = taken.stream().filter(one -> one.decision != late).toList();
        owner.refundAsync(List.of(late), charge -> true);
        owner.end(late);
    }

    /** The request has ended without the application, or nobody knows how: all permits stay taken. */
    public final synchronized void giveUp(@Nullable Decision late) {
        note(late);
        keep();
        settle(0, name -> List.of(), name -> null);
    }

    /** Removes a rule's charge that was refunded. */
    private void forget(Object identity, Charge charge) {
        List<Object> allowed = charged.subList(0, allowedCount);
        allowed.removeIf(one -> one.equals(identity) || (one instanceof Charge other && other.isToSame(charge)));
        allowedCount = allowed.size();
    }

    /**
     * At the end of the application: refunds what the response does not keep, settles estimates, and frees permits in flight.
     *
     * @param status of the response; 0 if there is none
     * @param headers returns the lines of a header of the response
     * @param attributes returns an attribute of the request; null if it is missing
     */
    public final void settle(
            int status, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        List<Taken> ended;
        synchronized (this) {
            ended = taken;
            taken = List.of();
        }
        try {
            RuleCharge.End end = new RuleCharge.End(isLeft, status, headers, attributes);
            List<Charge> back = new ArrayList<>(0);
            List<Charge> settled = new ArrayList<>(0);
            for (Taken one : ended) {
                for (Charge charge : one.noRefund ? List.<Charge>of() : one.decision.charges()) {
                    List<RuleCharge> chargedBy = RuleCharge.toSame(atEnd, charge);
                    if (RuleCharge.areBack(chargedBy, end)) {
                        // A later dispatch, from a filter before this one, is charged again.
                        chargedBy.forEach(rule -> forget(rule.rule().identity(), charge));
                        atEnd = new ArrayList<>(atEnd);
                        atEnd.removeAll(chargedBy);
                        back.add(charge);
                    }
                }
                if (one.hold != null) {
                    owner.settleAsync(one.hold, charge -> {
                        boolean isHeld = charge.policy().holds() > 0;
                        // What a later dispatch took of the same quota is a part of the same cost.
                        boolean isSettled = RuleCharge.isIn(back, charge) || isHeld && RuleCharge.isIn(settled, charge);
                        settled.add(charge);
                        if (isSettled) {
                            return 0;
                        }
                        return isHeld ? RuleCharge.actual(charge, atEnd, end) : charge.permits();
                    });
                }
            }
            if (!back.isEmpty()) {
                // Without effect on reservations, which are settled.
                List<Taken> open = ended.stream().filter(one -> !one.noRefund).toList();
                owner.refundAsync(open.stream().map(Taken::decision).toList(), charge -> RuleCharge.isIn(back, charge));
            }
        } finally {
            // Whatever the application or the container throws.
            ended.forEach(one -> owner.end(one.decision));
            shadowDecisions.forEach(one -> one.thenAccept(owner::end));
            shadowDecisions = List.of();
        }
    }
}
