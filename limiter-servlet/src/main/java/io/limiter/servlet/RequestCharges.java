package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.RateLimiter;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one request was charged already on one rate limiter, kept as its attribute. A container brings a request through the
 * filter again when it forwards it, takes it up after asynchronous work, or when the filter is mapped twice; it is one
 * request all the same, also when the configuration is replaced meanwhile. Filters of two rate limiters count apart, but know
 * of each other. Used by the one thread that has the request.
 */
final class RequestCharges {
    /**
     * Not a plain name: a request can be forwarded from one application into another, which has these classes from
     * another class loader.
     */
    private static final String ATTRIBUTE = RequestCharges.class.getName() + "." + UUID.randomUUID();

    private final RateLimiter owner;
    private final @Nullable RequestCharges earlier;

    /** A charge that is only counted. It stands for no charge that is enforced. */
    private record Shadowed(Charge charge) {}

    /** Identities of rules, and charges, also those that are only counted. Few, so they are looked through. */
    private final List<Object> met = new ArrayList<>(2);

    /** How many of them were met by dispatches that were allowed. Those behind are open: the current dispatch has met them. */
    private int kept;

    /** Of the current dispatch. */
    private List<String> paths = List.of();

    private @Nullable DeniedDispatch denial;
    private @Nullable Settlement settlement;
    private boolean partOfAnswer;

    private RequestCharges(RateLimiter owner, @Nullable RequestCharges earlier) {
        this.owner = owner;
        this.earlier = earlier;
    }

    /** What the request was charged on behalf of this owner. */
    static RequestCharges of(HttpServletRequest request, RateLimiter owner) {
        RequestCharges latest = request.getAttribute(ATTRIBUTE) instanceof RequestCharges known ? known : null;
        for (RequestCharges one = latest; one != null; one = one.earlier) {
            if (one.owner == owner) {
                return one;
            }
        }
        RequestCharges fresh = new RequestCharges(owner, latest);
        request.setAttribute(ATTRIBUTE, fresh);
        return fresh;
    }

    /**
     * Begins a dispatch. What an earlier one has met without being allowed, because it was denied or something failed, is
     * forgotten, so that having been denied is no way to pass. Only what answers the denial passes by it.
     */
    void begin(HttpServletRequest request, List<String> to) {
        partOfAnswer = met.size() > kept && denial().isAnsweredBy(request, to);
        if (partOfAnswer) {
            denial().beginPart(to);
            return;
        }
        met.subList(kept, met.size()).clear();
        paths = to;
        denial = null;
    }

    /** Keeps what the dispatch has met. Until then it is open, so that a dispatch that fails counts as denied. */
    void allow() {
        if (partOfAnswer) {
            denial().allowPart();
        } else {
            kept = met.size();
        }
    }

    /** What the dispatch turns into if it is not allowed. */
    DeniedDispatch denial() {
        if (denial == null) {
            denial = new DeniedDispatch(paths);
        }
        return denial;
    }

    /** Adds the identity of a rule; false if the request has met it before. */
    boolean add(Object identity) {
        return !met.contains(identity) && met.add(identity);
    }

    /**
     * Adds charges, which differ in policy or key; returns those that the request has not met before. Of one that costs more than
     * before the rest is due.
     */
    List<Charge> addCharges(List<Charge> charges) {
        List<Charge> due = charges;
        for (Charge charge : charges) {
            if (has(charge)) {
                due = new ArrayList<>(due);
                due.remove(charge);
                long rest = charge.permits() - met(charge);
                if (rest > 0) {
                    due.add(new Charge(charge.policy(), charge.key(), rest, null, charge.member()));
                }
            }
        }
        met.addAll(due);
        return due;
    }

    /** Adds charges that are only counted; returns those that the request has not met before, enforced or not. */
    List<Charge> addShadows(List<Charge> charges) {
        if (charges.isEmpty()) {
            return charges;
        }
        List<Charge> due = new ArrayList<>();
        for (Charge charge : charges) {
            if (!has(charge)
                    && met.stream().noneMatch(one -> one instanceof Shadowed other && charge.isToSame(other.charge))) {
                met.add(new Shadowed(charge));
                due.add(charge);
            }
        }
        return due;
    }

    /** How many permits of that policy for that key were met. */
    private long met(Charge charge) {
        long permits = 0;
        for (Object one : met) {
            permits += one instanceof Charge other && other.isToSame(charge) ? other.permits() : 0;
        }
        return permits;
    }

    /** Whether a charge of that policy for that key was met. */
    private boolean has(Charge charge) {
        for (Object one : met) {
            if (one instanceof Charge other && other.isToSame(charge)) {
                return true;
            }
        }
        return false;
    }

    /** Whether some of it may be given back. */
    boolean mayBeGivenBack() {
        return settlement != null;
    }

    /** Keeps all of it, because the request is denied. */
    void keep() {
        if (settlement != null) {
            settlement.keep();
        }
    }

    /** What of it is given back when the application has completed. */
    Settlement settlement() {
        if (settlement == null) {
            settlement = new Settlement(owner, this::forget);
        }
        return settlement;
    }

    /** A rule's charge was given back, so that it is one that the request has not met. */
    private void forget(Object identity, Charge charge) {
        List<Object> before = met.subList(0, kept);
        before.removeIf(one -> one.equals(identity) || (one instanceof Charge other && other.isToSame(charge)));
        kept = before.size();
    }

    /** The policy of one of the charges that was charged for the same key on another rate limiter; null when there is none. */
    @Nullable
    String chargedByAnother(List<Charge> charges) {
        for (RequestCharges one = earlier; one != null; one = one.earlier) {
            for (Charge charge : charges) {
                if (one.has(charge)) {
                    return charge.policy().name();
                }
            }
        }
        return null;
    }
}
