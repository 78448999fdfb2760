package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.RateLimiter;
import io.limiter.http.Request;
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
 * know of each other. Used by the one thread that has the request.
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

    /** A shadow charge. It does not replace an enforced one. */
    private record Shadowed(Charge charge) {}

    /** Identities of rules, and charges, including shadow charges. Few, so a linear search suffices. */
    private final List<Object> charged = new ArrayList<>(2);

    /** How many of them belong to earlier, allowed dispatches. The rest are open: they belong to the current dispatch. */
    private int kept;

    /** Whether something may be due at the end of the request: a refund, a settlement, or the end of permits in flight. */
    private boolean awaitsEnd;

    /** Whether the client has left before the end. */
    protected volatile boolean isLeft;

    /** The rules that have charged what it took, if it awaits the end. */
    private List<RuleCharge> terms = List.of();

    private List<Taken> taken = List.of();

    /**
     * What a decision took.
     *
     * @param hold of its estimates; null if it has none
     * @param isKept whether it keeps its charges, whatever the response
     */
    private record Taken(Decision decision, @Nullable Hold hold, boolean isKept) {}

    /** What shadow rules took, which is ended with the request. */
    private List<CompletableFuture<Decision>> counted = List.of();

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

    /** Whether the current dispatch has charges that were not kept: it is denied, or not decided yet. */
    protected final boolean isOpen() {
        return charged.size() > kept;
    }

    /**
     * Begins a dispatch. Charges of an earlier one that was not allowed, because it was denied or failed, are
     * forgotten, so that a denied request can't be admitted by a new dispatch.
     */
    protected void begin(RuleRequest dispatch) {
        if (isOpen()) {
            charged.subList(kept, charged.size()).clear();
        }
    }

    /** Keeps the charges of the dispatch. Until then they are open, so that a dispatch that fails counts as denied. */
    protected void allow() {
        kept = charged.size();
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

    /** The same for a rule that charges. */
    boolean add(RuleCharge rule, boolean hasEnd) {
        boolean isNew = add(rule.rule().identity());
        // Also for a filter with rules that keep everything: an earlier filter may refund what both charge.
        if (isNew && (hasEnd || awaitsEnd)) {
            awaitsEnd = true;
            terms = RuleCharge.with(rule, terms);
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
                long rest = charge.permits() - before;
                if (rest > 0) {
                    due.add(new Charge(charge.policy(), charge.key(), rest, null, charge.member()));
                }
            }
        }
        return due;
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

    /** The same with estimates, also on the thread that gets them. */
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

    /** The same of shadow rules. */
    public final void note(List<CompletableFuture<Decision>> shadows) {
        if (awaitsEnd) {
            counted = Stream.concat(counted.stream(), shadows.stream()).toList();
        }
    }

    /** Whether something is to be done at the end of the request. */
    public final synchronized boolean hasEnd() {
        return !taken.isEmpty() || !counted.isEmpty();
    }

    /** Keeps all permits taken so far, whatever the response: a denial is an answer of the limiter, not of the application. */
    public final synchronized void keep() {
        List<Taken> kept = new ArrayList<>(taken);
        kept.replaceAll(one -> new Taken(one.decision, one.hold, true));
        taken = kept;
    }

    /** Whether it is to be found out if the client has left: it has an estimate, and nobody has noticed that yet. */
    protected final synchronized boolean mayBeLeft() {
        return !isLeft && taken.stream().anyMatch(one -> one.hold != null);
    }

    /** The client has left before the end, so that a cost that nobody has told may be the most that it can be. */
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
    public final void giveUp(@Nullable Decision late) {
        note(late);
        keep();
        settle(0, name -> List.of(), name -> null);
    }

    /** Removes a rule's charge that was refunded. */
    private void forget(Object identity, Charge charge) {
        List<Object> before = charged.subList(0, kept);
        before.removeIf(one -> one.equals(identity) || (one instanceof Charge other && other.isToSame(charge)));
        kept = before.size();
    }

    /** The policy of one of the charges that was charged for the same key on another rate limiter; null when there is none. */
    public final @Nullable String chargedByAnother(List<Charge> charges) {
        for (RequestLedger one = earlier; one != null; one = one.earlier) {
            for (Charge charge : charges) {
                if (one.permits(charge) >= 0) {
                    return charge.policy().name();
                }
            }
        }
        return null;
    }

    /**
     * At the end of the application: refunds what the response does not keep, settles estimates, and frees permits in flight.
     *
     * @param headers returns the lines of a header of the response
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
                for (Charge charge : one.isKept ? List.<Charge>of() : one.decision.charges()) {
                    List<RuleCharge> makers = RuleCharge.toSame(terms, charge);
                    if (RuleCharge.areBack(makers, end)) {
                        // A later dispatch, from a filter before this one, is charged again.
                        makers.forEach(rule -> forget(rule.rule().identity(), charge));
                        terms = new ArrayList<>(terms);
                        terms.removeAll(makers);
                        back.add(charge);
                    }
                }
                if (one.hold != null) {
                    owner.settleAsync(one.hold, charge -> {
                        boolean isHeld = charge.policy().holds() > 0;
                        // What a later dispatch took of the same quota is a part of the same cost.
                        boolean isPaid = RuleCharge.isIn(back, charge) || isHeld && RuleCharge.isIn(settled, charge);
                        settled.add(charge);
                        if (isPaid) {
                            return 0;
                        }
                        return isHeld ? RuleCharge.actual(charge, terms, end) : charge.permits();
                    });
                }
            }
            if (!back.isEmpty()) {
                // Without effect on reservations, which are settled.
                List<Taken> open = ended.stream().filter(one -> !one.isKept).toList();
                owner.refundAsync(open.stream().map(Taken::decision).toList(), charge -> RuleCharge.isIn(back, charge));
            }
        } finally {
            // Whatever the application or the container throws.
            ended.forEach(one -> owner.end(one.decision));
            counted.forEach(one -> one.thenAccept(owner::end));
            counted = List.of();
        }
    }
}
