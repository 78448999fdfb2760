package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The charges of one request on one rate limiter, kept as a request attribute. A request reaches the filter again when
 * it is forwarded, when it is dispatched after asynchronous work, or when the filter is mapped twice; it is still one
 * request, even if the configuration is replaced in the meantime. Filters of two rate limiters count separately, but
 * know of each other. Used by the one thread that has the request.
 *
 * <p>Permits that it took may be refunded when the application has completed: at the end of its first dispatch, or of
 * its asynchronous work. A request that ends in another way (an exception, a timeout, a broken connection) gets no
 * refund, so that a client can't avoid being counted by ending a request early.
 */
final class RequestCharges implements AsyncListener {
    /**
     * Not a plain name: a request can be forwarded from one application into another, which has these classes from
     * another class loader.
     */
    private static final String ATTRIBUTE = RequestCharges.class.getName() + "." + UUID.randomUUID();

    private final RateLimiter owner;
    private final @Nullable RequestCharges earlier;

    /** A shadow charge. It does not replace an enforced one. */
    private record Shadowed(Charge charge) {}

    /** Identities of rules, and charges, including shadow charges. Few, so a linear search suffices. */
    private final List<Object> met = new ArrayList<>(2);

    /** How many of them belong to earlier, allowed dispatches. The rest are open: they belong to the current dispatch. */
    private int kept;

    /** For the current dispatch. */
    private List<String> paths = List.of();

    private @Nullable DeniedDispatch denial;
    private boolean partOfAnswer;

    /** Whether some of it may be refunded. */
    private boolean refunds;

    private List<Term> terms = List.of();
    private List<Decision> taken = List.of();

    /** How many calls of the filter chain have not returned. */
    private int depth;

    /** What settles it at the end of asynchronous work. */
    private @Nullable Runnable awaited;

    /**
     * The charge of a rule.
     *
     * @param outcomes which responses keep it
     */
    private record Term(Object rule, Charge charge, RuleOutcomes outcomes) {}

    private RequestCharges(RateLimiter owner, @Nullable RequestCharges earlier) {
        this.owner = owner;
        this.earlier = earlier;
    }

    /** The charges of the request for this owner. */
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
     * Begins a dispatch. Charges of an earlier one that was not allowed, because it was denied or failed, are
     * forgotten, so that a denied request can't be admitted by a new dispatch. Only the answer to the denial is exempt.
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

    /** Keeps the charges of the dispatch. Until then they are open, so that a dispatch that fails counts as denied. */
    void allow() {
        if (partOfAnswer) {
            denial().allowPart();
        } else {
            kept = met.size();
        }
    }

    /** The dispatch, if it is denied. */
    DeniedDispatch denial() {
        if (denial == null) {
            denial = new DeniedDispatch(paths);
        }
        return denial;
    }

    /** Whether the rule of this identity was added. */
    boolean hasMet(Object identity) {
        return met.contains(identity);
    }

    /**
     * Adds the identity of a rule that is only counted, which neither keeps nor gives back what others charge; false if it
     * was added before.
     */
    boolean add(Object identity) {
        return !met.contains(identity) && met.add(identity);
    }

    /** The same for a rule with this charge, which these outcomes may give back. */
    boolean add(Object identity, Charge charge, RuleOutcomes outcomes, boolean mayGiveBack) {
        boolean isNew = add(identity);
        // Also for a filter with rules that keep everything: an earlier filter may refund what both charge.
        if (isNew && (mayGiveBack || refunds)) {
            refunds = true;
            terms = terms.isEmpty() ? new ArrayList<>(2) : terms;
            terms.add(new Term(identity, charge, outcomes));
        }
        return isNew;
    }

    /**
     * Adds charges, which differ in policy or key; returns those that the request was not charged before. If one costs
     * more than before, the difference is due.
     */
    List<Charge> addCharges(List<Charge> charges) {
        List<Charge> due = due(charges);
        met.addAll(due);
        return due;
    }

    /** The same, without adding them. */
    List<Charge> due(List<Charge> charges) {
        List<Charge> due = charges;
        for (Charge charge : charges) {
            long met = met(charge);
            if (met >= 0) {
                due = new ArrayList<>(due);
                due.remove(charge);
                long rest = charge.permits() - met;
                if (rest > 0) {
                    due.add(new Charge(charge.policy(), charge.key(), rest, null, charge.member()));
                }
            }
        }
        return due;
    }

    /** Adds shadow charges; returns those that the request was not charged before, enforced or not. */
    List<Charge> addShadows(List<Charge> charges) {
        if (charges.isEmpty()) {
            return charges;
        }
        List<Charge> due = new ArrayList<>();
        for (Charge charge : charges) {
            if (met(charge) < 0
                    && met.stream().noneMatch(one -> one instanceof Shadowed other && charge.isToSame(other.charge))) {
                met.add(new Shadowed(charge));
                due.add(charge);
            }
        }
        return due;
    }

    /** How many permits of that policy for that key were charged; -1 if it was not charged. */
    private long met(Charge charge) {
        long permits = -1;
        for (Object one : met) {
            if (one instanceof Charge other && other.isToSame(charge)) {
                permits = Math.max(permits, 0) + other.permits();
            }
        }
        return permits;
    }

    /** Records granted permits. */
    void note(Decision allowed) {
        if (refunds) {
            taken = taken.isEmpty() ? new ArrayList<>(1) : taken;
            taken.add(allowed);
        }
    }

    /** Keeps all permits taken so far, whatever the response: a denial is an answer of the limiter, not of the application. */
    void keep() {
        taken = List.of();
    }

    /** Removes a rule's charge that was refunded. */
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
                if (one.met(charge) >= 0) {
                    return charge.policy().name();
                }
            }
        }
        return null;
    }

    /** Runs the rest of a dispatch. Only the end of the outermost one is that of the application. */
    void run(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        refunds = true;
        boolean completed = false;
        // Before the application: a container may leave the type of its last FORWARD in the request.
        DispatcherType type = request.getDispatcherType();
        depth++;
        try {
            chain.doFilter(request, response);
            completed = true;
        } finally {
            depth--;
            if (depth == 0) {
                end(completed, type, request, response);
            }
        }
    }

    private void end(boolean completed, DispatcherType type, HttpServletRequest request, HttpServletResponse response) {
        if (!completed) {
            keep();
        } else if (awaited == null && request.isAsyncStarted()) {
            awaited = () -> settle(request, response);
            request.getAsyncContext().addListener(this);
        } else if (awaited == null && (type == DispatcherType.REQUEST || type == DispatcherType.ASYNC)) {
            // After a FORWARD that began outside of the filter, the application continues.
            settle(request, response);
        }
    }

    private void settle(HttpServletRequest request, HttpServletResponse response) {
        List<Charge> back = new ArrayList<>(1);
        for (Decision decision : taken) {
            for (Charge charge : decision.charges()) {
                List<Term> asked = terms.stream()
                        .filter(term -> term.charge.isToSame(charge))
                        .toList();
                boolean isKept =
                        asked.isEmpty() || asked.stream().anyMatch(term -> term.outcomes.keeps(request, response));
                asked.forEach(term -> term.outcomes.note(isKept));
                if (!isKept) {
                    back.add(charge);
                    // A later dispatch, from a filter before this one, is charged again.
                    asked.forEach(term -> forget(term.rule, charge));
                    terms.removeAll(asked);
                }
            }
        }
        if (!back.isEmpty()) {
            owner.refundAsync(List.copyOf(taken), charge -> back.stream().anyMatch(one -> one.isToSame(charge)));
        }
        keep();
    }

    @Override
    public void onComplete(AsyncEvent event) {
        Runnable end = awaited;
        awaited = null;
        if (end != null) {
            end.run();
        }
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        keep();
    }

    @Override
    public void onError(AsyncEvent event) {
        keep();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}
