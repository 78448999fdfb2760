package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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

    private record Charged(String policy, PartitionKey key) {
        static Charged of(Charge charge) {
            return new Charged(charge.policy().name(), charge.key());
        }
    }

    private final Object owner;
    private final @Nullable RequestCharges earlier;

    /** Identities of rules, and charges. */
    private final Set<Object> met = new HashSet<>();

    /** Those of them that the current dispatch has met, until it is allowed. */
    private final List<Object> open = new ArrayList<>(2);

    private DeniedDispatch denial = new DeniedDispatch(List.of());
    private boolean partOfAnswer;

    private RequestCharges(Object owner, @Nullable RequestCharges earlier) {
        this.owner = owner;
        this.earlier = earlier;
    }

    /** What the request was charged on behalf of this owner. */
    static RequestCharges of(HttpServletRequest request, Object owner) {
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
    void begin(HttpServletRequest request, List<String> paths) {
        partOfAnswer = !open.isEmpty() && denial.isAnsweredBy(request, paths);
        if (partOfAnswer) {
            denial.beginPart(paths);
            return;
        }
        open.forEach(met::remove);
        allow();
        denial = new DeniedDispatch(paths);
    }

    /** Keeps what the dispatch has met. Until then it is open, so that a dispatch that fails counts as denied. */
    void allow() {
        if (partOfAnswer) {
            denial.allowPart();
            return;
        }
        open.clear();
    }

    /** What the dispatch turns into if it is not allowed. */
    DeniedDispatch denial() {
        return denial;
    }

    /** Adds the identity of a rule; false if the request has met it before. */
    boolean add(Object identity) {
        return met.add(identity) && open.add(identity);
    }

    /** Adds charges; returns those that the request has not met before. */
    List<Charge> addCharges(List<Charge> charges) {
        List<Charge> due = new ArrayList<>(charges);
        due.removeIf(charge -> !add(Charged.of(charge)));
        return due;
    }

    /** The policy of one of the charges that was charged for the same key on another rate limiter; null when there is none. */
    @Nullable
    String chargedByAnother(List<Charge> charges) {
        for (RequestCharges one = earlier; one != null; one = one.earlier) {
            for (Charge charge : charges) {
                if (one.met.contains(Charged.of(charge))) {
                    return charge.policy().name();
                }
            }
        }
        return null;
    }
}
