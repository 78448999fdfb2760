package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import jakarta.servlet.ServletRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one request was charged already by one filter, kept as its attribute. A container brings a request through the
 * filter again when it forwards it, takes it up after asynchronous work, or when the filter is mapped twice; it is one
 * request all the same. Two filters count apart, but know of each other. Used by the one thread that has the request.
 */
final class ChargedOnce implements AnswerSoFar {
    /**
     * Not a plain name: a request can be forwarded from one application into another, which has these classes from
     * another class loader.
     */
    private static final String ATTRIBUTE = ChargedOnce.class.getName() + "." + UUID.randomUUID();

    private record Charged(String policy, PartitionKey key) {}

    private final Object owner;
    private final @Nullable ChargedOnce earlier;
    private final Set<HttpRule> rules = new HashSet<>();
    private final Set<Charged> charged = new HashSet<>();
    private final ToldLimits told;
    private long leastShown = Long.MAX_VALUE;
    private boolean exposed;

    /** What the current visit has met, until it is allowed. */
    private final List<HttpRule> openRules = new ArrayList<>(1);

    private final List<Charged> openCharges = new ArrayList<>(1);
    private Denial denial = Denial.NONE;
    private boolean partOfAnswer;

    private ChargedOnce(Object owner, @Nullable ChargedOnce earlier) {
        this.owner = owner;
        this.earlier = earlier;
        this.told = earlier == null ? new ToldLimits() : earlier.told;
    }

    /**
     * What the request was charged by a filter.
     *
     * @param owner the filter, or what several share
     */
    static ChargedOnce of(ServletRequest request, Object owner) {
        ChargedOnce latest = request.getAttribute(ATTRIBUTE) instanceof ChargedOnce known ? known : null;
        for (ChargedOnce one = latest; one != null; one = one.earlier) {
            if (one.owner == owner) {
                return one;
            }
        }
        ChargedOnce fresh = new ChargedOnce(owner, latest);
        request.setAttribute(ATTRIBUTE, fresh);
        return fresh;
    }

    /**
     * Begins a visit. What an earlier one has met without being allowed, because it was denied or something failed, is
     * forgotten, so that having been denied is no way to pass. Only what answers the denial passes by it.
     */
    void begin(Visit visit) {
        partOfAnswer = !openRules.isEmpty() && denial.isAnsweredBy(visit);
        if (partOfAnswer) {
            denial.beginPart(visit);
            return;
        }
        openRules.forEach(rules::remove);
        openCharges.forEach(charged::remove);
        allow();
        denial = new Denial(visit);
    }

    /** Keeps what the visit has met. Until then it is open, so that a visit that fails counts as denied. */
    void allow() {
        if (partOfAnswer) {
            denial.allowPart();
            return;
        }
        openRules.clear();
        openCharges.clear();
    }

    /** What the visit turns into if it is not allowed. */
    Denial denial() {
        return denial;
    }

    /** Whether the request has not met this rule yet; it has from now on. */
    boolean isFirst(HttpRule rule) {
        return rules.add(rule) && openRules.add(rule);
    }

    /** Those of the charges that the request has not met yet; it has met them from now on. */
    List<Charge> due(List<Charge> charges) {
        List<Charge> due = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            if (charged.add(of(charge))) {
                openCharges.add(of(charge));
                due.add(charge);
            }
        }
        return due;
    }

    /** The policy of one of the charges that another filter has charged for the same key before; null when there is none. */
    @Nullable
    String chargedByAnother(List<Charge> charges) {
        for (ChargedOnce one = earlier; one != null; one = one.earlier) {
            for (Charge charge : charges) {
                if (one.charged.contains(of(charge))) {
                    return charge.policy().name();
                }
            }
        }
        return null;
    }

    /** Shared by all filters. */
    @Override
    public ToldLimits told() {
        return told;
    }

    @Override
    public boolean isClosest(LimitOutcome outcome) {
        long least = leastShown;
        for (ChargedOnce one = earlier; one != null; one = one.earlier) {
            least = Math.min(least, one.leastShown);
        }
        if (outcome.allowed() && outcome.remaining() >= least) {
            return false;
        }
        leastShown = outcome.remaining();
        return true;
    }

    /** Whether the answer to this request does not say yet what scripts may read; it does from now on. */
    boolean isFirstToExpose() {
        boolean first = !exposed;
        for (ChargedOnce one = earlier; one != null; one = one.earlier) {
            first &= !one.exposed;
        }
        exposed = true;
        return first;
    }

    private static Charged of(Charge charge) {
        return new Charged(charge.policy().name(), charge.key());
    }
}
