package io.limiter;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a list of charges, all-or-nothing: allowed or not, what each limit says, and where the answer comes from.
 * Thread-safe; what it says never changes.
 */
public final class Decision {
    /** Where a decision comes from. */
    public enum Source {
        /** Redis decided. */
        REDIS,
        /** This JVM decided, as the backend of choice. */
        IN_PROCESS,
        /**
         * An earlier denial of Redis, to a call of the same or a lower cost, still holds, so Redis was not asked. There are
         * outcomes only for the limits that are known to deny. Their times are what is left of them; {@code retryAfter} of a
         * higher cost can be longer, and there can be more quota than {@code remaining}.
         */
        CACHED_DENIAL,
        /** The backend could not answer and the policy says {@link FailureMode#ALLOW}. */
        FAILED_OPEN,
        /** The backend could not answer and the policy says {@link FailureMode#DENY}. */
        FAILED_CLOSED,
        /** The backend could not answer and this JVM decided with its share: {@link FailureMode#LOCAL}. */
        LOCAL_FALLBACK;

        /** Whether the numbers are those of the limit itself, fit to be told to a client. */
        public boolean isExact() {
            return this == REDIS || this == IN_PROCESS || this == CACHED_DENIAL;
        }
    }

    private static final long UNKNOWN_RETRY_MICROS = 1_000_000;

    private final Source source;

    /**
     * A {@link LimitOutcome} where one limit of one charge says it all, else {@link Several}. One reference, because decisions
     * are made for each request and are often kept until its end.
     */
    private final Object said;

    private boolean refunded;

    /**
     * What is not said by one limit.
     *
     * @param charges null for the one charge of all outcomes
     * @param binding null where nobody counted
     */
    private record Several(
            boolean allowed,
            @Nullable List<Charge> charges,
            LimitOutcome[] outcomes,
            @Nullable LimitOutcome binding) {}

    private Decision(Source source, Object said) {
        this.source = source;
        this.said = said;
    }

    /**
     * A decision with numbers: allowed when every outcome is.
     *
     * @param outcomes one for each limit of each charge, in their order
     */
    public static Decision of(Source source, List<Charge> charges, List<LimitOutcome> outcomes) {
        return several(source, List.copyOf(charges), outcomes.toArray(new LimitOutcome[0]));
    }

    /**
     * A decision about one charge to a policy of several limits.
     *
     * @param outcomes one for each limit, in their order; kept, so not to be changed any more
     */
    public static Decision ofOneCharge(Source source, LimitOutcome... outcomes) {
        Objects.checkIndex(0, outcomes.length);
        return several(source, null, outcomes);
    }

    private static Decision several(Source source, @Nullable List<Charge> charges, LimitOutcome[] outcomes) {
        boolean allowed = true;
        LimitOutcome binding = null;
        for (LimitOutcome outcome : outcomes) {
            allowed &= outcome.allowed();
            binding = binding == null || moreBinding(outcome, binding) ? outcome : binding;
        }
        return new Decision(Objects.requireNonNull(source, "source"), new Several(allowed, charges, outcomes, binding));
    }

    /** A decision about one charge to a policy of one limit. */
    public static Decision of(Source source, LimitOutcome outcome) {
        return new Decision(Objects.requireNonNull(source, "source"), Objects.requireNonNull(outcome, "outcome"));
    }

    /** What the failure mode says where nobody counted. */
    static Decision failed(boolean open, List<Charge> charges) {
        return new Decision(
                open ? Source.FAILED_OPEN : Source.FAILED_CLOSED,
                new Several(open, charges, new LimitOutcome[0], null));
    }

    /** The same answer, given by the local share to these charges. */
    Decision asLocalFallback(List<Charge> asked) {
        return several(Source.LOCAL_FALLBACK, asked, outcomes().toArray(new LimitOutcome[0]));
    }

    /** Whether the call may pass. */
    public boolean allowed() {
        return said instanceof LimitOutcome one ? one.allowed() : ((Several) said).allowed;
    }

    /** Where the answer comes from. */
    public Source source() {
        return source;
    }

    /** The charges asked, in their order. */
    public List<Charge> charges() {
        List<Charge> several = said instanceof Several all ? all.charges : null;
        return several != null
                ? several
                : List.of(Objects.requireNonNull(bindingOrNull()).charge());
    }

    /**
     * What each limit of each charge says, in their order; only those that are known of a {@link Source#CACHED_DENIAL}. Empty when nobody counted
     * ({@link Source#FAILED_OPEN}, {@link Source#FAILED_CLOSED}).
     */
    public List<LimitOutcome> outcomes() {
        return said instanceof LimitOutcome one ? List.of(one) : List.of(((Several) said).outcomes);
    }

    /** The limits that deny, in their order; empty when allowed or when nobody counted. */
    public List<LimitOutcome> violated() {
        return outcomes().stream().filter(outcome -> !outcome.allowed()).toList();
    }

    /**
     * The limit that matters most: of a denial the one with the longest retryAfter ({@code never} is the longest), of an
     * admission the one with the least remaining. The first of them where several are equal. Empty when nobody counted.
     */
    public Optional<LimitOutcome> binding() {
        return Optional.ofNullable(bindingOrNull());
    }

    /**
     * Microseconds until the call would pass if nobody else calls: 0 when allowed, {@link LimitOutcome#NEVER} when it
     * asks for more than a limit can ever grant, also when the backend is unreachable. One second when nobody can know,
     * because the backend is unreachable.
     */
    public long retryAfterMicros() {
        if (allowed()) {
            return 0;
        }
        LimitOutcome binding = bindingOrNull();
        // What is too much for a share need not be too much for the whole limit.
        if (binding != null && (source != Source.LOCAL_FALLBACK || binding.retryAfterMicros() != LimitOutcome.NEVER)) {
            return binding.retryAfterMicros();
        }
        return asksTooMuch() ? LimitOutcome.NEVER : UNKNOWN_RETRY_MICROS;
    }

    /** Whether a charge is above what a limit of its policy can ever grant; no backend is needed to know that. */
    private boolean asksTooMuch() {
        return charges().stream()
                .anyMatch(charge ->
                        charge.policy().limits().stream().anyMatch(limit -> charge.permits() > limit.capacity()));
    }

    /** Time until the call would pass if nobody else calls: zero when allowed, empty when it can never pass. */
    public Optional<Duration> retryAfter() {
        long micros = retryAfterMicros();
        return micros == LimitOutcome.NEVER ? Optional.empty() : Optional.of(Duration.of(micros, ChronoUnit.MICROS));
    }

    /** Permits that the binding limit has left; 0 when nobody counted. */
    public long remaining() {
        LimitOutcome binding = bindingOrNull();
        return binding == null ? 0 : binding.remaining();
    }

    /** Claims the one refund of this decision: true the first time. A decision that took nothing is claimed at once. */
    synchronized boolean claimRefund() {
        boolean first = !refunded;
        refunded = true;
        return first;
    }

    private @Nullable LimitOutcome bindingOrNull() {
        return said instanceof LimitOutcome one ? one : ((Several) said).binding;
    }

    private static boolean moreBinding(LimitOutcome one, LimitOutcome than) {
        if (one.allowed() != than.allowed()) {
            return !one.allowed();
        }
        // As unsigned numbers NEVER, which is -1, is the longest.
        return one.allowed()
                ? one.remaining() < than.remaining()
                : Long.compareUnsigned(one.retryAfterMicros(), than.retryAfterMicros()) > 0;
    }

    @Override
    public String toString() {
        return (allowed() ? "allowed" : "denied") + " by " + source + " " + outcomes();
    }
}
