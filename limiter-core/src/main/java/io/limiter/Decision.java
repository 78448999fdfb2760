package io.limiter;

import io.limiter.internal.Access;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a list of charges, all-or-nothing: allowed or not, the outcome of each limit, and the source of the
 * answer. Thread-safe; its answer never changes.
 */
public final class Decision {
    /** Where a decision comes from. */
    public enum Source {
        /** Redis decided. */
        REDIS,
        /** This JVM decided, as the backend of choice. */
        IN_PROCESS,
        /**
         * An earlier denial by Redis, of a call with the same or a lower cost, is still valid, so Redis was not called.
         * There are outcomes only for the limits that are known to deny. Their times are the remaining ones; {@code
         * retryAfter} of a higher cost can be longer, and there can be more quota than {@code remaining}. Also the
         * source of the denial of a call that waited, or would have to wait, behind others for a limit that is known to
         * deny.
         */
        CACHED_DENIAL,
        /** The backend could not answer and the policy has {@link FailureMode#ALLOW}. */
        FAILED_OPEN,
        /** The backend could not answer and the policy has {@link FailureMode#DENY}. */
        FAILED_CLOSED,
        /** The backend could not answer and this JVM decided with its share: {@link FailureMode#LOCAL}. */
        LOCAL_FALLBACK,
        /**
         * An override of the key, or a switch, by an operator decided: the call is not counted, or denied.
         * Under the other limits of an override the backend decides, so the source is that of the backend.
         */
        OVERRIDDEN;

        /** Whether the numbers are those of the limit itself, so that they can be sent to a client. */
        public boolean isExact() {
            return this == REDIS || this == IN_PROCESS || this == CACHED_DENIAL;
        }
    }

    private static final long UNKNOWN_RETRY_MICROS = 1_000_000;

    private final Source source;

    /**
     * A {@link LimitOutcome} for one limit of one charge, an array of them for the limits of one charge, else {@link
     * Several}. One reference, because decisions are made for each request and are often kept until its end.
     */
    private final Object answer;

    private final boolean allowed;
    private boolean refunded;

    /** The answer to several charges, or one without outcomes because nothing was counted. */
    private record Several(List<Charge> charges, LimitOutcome[] outcomes) {}

    private Decision(Source source, boolean allowed, Object answer) {
        this.source = Objects.requireNonNull(source, "source");
        this.allowed = allowed;
        this.answer = answer;
    }

    /**
     * A decision: allowed when every outcome is; without outcomes, unless its source is {@link Source#FAILED_CLOSED}.
     *
     * @param outcomes one for each limit of each charge, in their order; none if nothing was counted
     */
    public static Decision of(Source source, List<Charge> charges, List<LimitOutcome> outcomes) {
        LimitOutcome[] all = outcomes.toArray(new LimitOutcome[0]);
        boolean allowed = all.length == 0 ? source != Source.FAILED_CLOSED : areAllowed(all);
        return new Decision(source, allowed, new Several(List.copyOf(charges), all));
    }

    /**
     * A decision about one charge to a policy of several limits.
     *
     * @param outcomes one for each limit, in their order; kept, so it must not be changed afterwards
     */
    public static Decision ofOneCharge(Source source, LimitOutcome... outcomes) {
        Objects.checkIndex(0, outcomes.length);
        return new Decision(source, areAllowed(outcomes), outcomes);
    }

    /** A decision about one charge to a policy of one limit. */
    public static Decision of(Source source, LimitOutcome outcome) {
        return new Decision(source, outcome.allowed(), outcome);
    }

    /** The same answer, given by the local share to these charges. For this library. */
    public Decision asLocalFallback(List<Charge> charges) {
        if (answer instanceof LimitOutcome one && one.policy() == charges.get(0).policy()) {
            return new Decision(Source.LOCAL_FALLBACK, allowed, answer);
        }
        return new Decision(Source.LOCAL_FALLBACK, allowed, new Several(List.copyOf(charges), each(Access.LIBRARY)));
    }

    /** Whether the call is allowed. */
    public boolean allowed() {
        return allowed;
    }

    /** Where the answer comes from. */
    public Source source() {
        return source;
    }

    /** The charges, in their order. */
    public List<Charge> charges() {
        return answer instanceof Several several
                ? several.charges
                : List.of(Objects.requireNonNull(bindingOrNull()).charge());
    }

    /**
     * The outcome of each limit of each charge, in their order; of a {@link Source#CACHED_DENIAL} only the known ones.
     * Empty if nothing was counted
     * ({@link Source#FAILED_OPEN}, {@link Source#FAILED_CLOSED}, {@link Source#OVERRIDDEN} where allowed).
     */
    public List<LimitOutcome> outcomes() {
        return answer instanceof LimitOutcome one ? List.of(one) : List.of(several());
    }

    /** Whether the backend holds the permits of its only charge until the end of the call. For this library. */
    public boolean isOneInFlight() {
        // Such a limit is the first one of its policy.
        return allowed
                && source != Source.LOCAL_FALLBACK
                && !(answer instanceof Several)
                && (answer instanceof LimitOutcome one ? one : several()[0]).isInFlight();
    }

    /** The outcomes, not copied: they must not be changed. For this library. */
    public LimitOutcome[] each(Access library) {
        Objects.requireNonNull(library, "library");
        return answer instanceof LimitOutcome one ? new LimitOutcome[] {one} : several();
    }

    /** The limits that deny, in their order; empty if allowed or if nothing was counted. */
    public List<LimitOutcome> violated() {
        if (answer instanceof LimitOutcome only) {
            return only.allowed() ? List.of() : List.of(only);
        }
        return outcomes().stream().filter(outcome -> !outcome.allowed()).toList();
    }

    /** Whether the key is blocked because it was denied too often ({@link Limit#block}). */
    public boolean blocked() {
        if (allowed || answer instanceof LimitOutcome) {
            return !allowed && Objects.requireNonNull(bindingOrNull()).blocked();
        }
        for (LimitOutcome outcome : several()) {
            if (outcome.blocked()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The limit that matters most: of a denial the one with the longest retryAfter ({@code never} is the longest, unknown the shortest), of an
     * admission the one with the least remaining. The first of several equal ones. Empty if nothing was counted.
     */
    public Optional<LimitOutcome> binding() {
        return Optional.ofNullable(bindingOrNull());
    }

    /**
     * Microseconds until the call would be allowed if there are no other calls: 0 when allowed, {@link
     * LimitOutcome#UNKNOWN} when it waits only for calls in flight, {@link LimitOutcome#NEVER} when it asks for more than a limit can ever grant, also when the backend is unreachable. One
     * second when the time is unknown because the backend is unreachable.
     */
    public long retryAfterMicros() {
        if (allowed) {
            return 0;
        }
        LimitOutcome binding = bindingOrNull();
        // A cost above the share may still be below the whole limit.
        if (binding != null && (source != Source.LOCAL_FALLBACK || binding.retryAfterMicros() != LimitOutcome.NEVER)) {
            return binding.retryAfterMicros();
        }
        return asksTooMuch() ? LimitOutcome.NEVER : UNKNOWN_RETRY_MICROS;
    }

    /** Whether a charge is above what a limit of its policy can ever grant; no backend is needed to know that. */
    private boolean asksTooMuch() {
        return charges().stream()
                .anyMatch(charge -> charge.policy().limits().stream()
                        .anyMatch(limit -> charge.permitsOf(limit) > limit.capacity()));
    }

    /** Whether it is denied only because of calls in flight, so that nobody knows when it would be allowed: {@link #retryAfter} is empty. */
    public boolean isRetryUnknown() {
        return retryAfterMicros() == LimitOutcome.UNKNOWN;
    }

    /** Time until the call would be allowed if there are no other calls: zero when allowed, empty when it never can be or {@linkplain #isRetryUnknown nobody knows}. */
    public Optional<Duration> retryAfter() {
        long micros = retryAfterMicros();
        return micros < 0 ? Optional.empty() : Optional.of(Duration.of(micros, ChronoUnit.MICROS));
    }

    /**
     * As {@link #retryAfter} in whole seconds, rounded up, as {@code Retry-After} has them (RFC 9110, section 10.2.3): who
     * tries again after them is not too early. 0 when allowed, empty when it never can be or {@linkplain #isRetryUnknown nobody knows}.
     */
    public OptionalLong retryAfterSeconds() {
        long micros = retryAfterMicros();
        return micros < 0
                ? OptionalLong.empty()
                : OptionalLong.of(micros / 1_000_000 + (micros % 1_000_000 == 0 ? 0 : 1));
    }

    /** Permits that the binding limit has left; 0 if nothing was counted. */
    public long remaining() {
        LimitOutcome binding = bindingOrNull();
        return binding == null ? 0 : binding.remaining();
    }

    /**
     * Claims the one refund of this decision: true the first time. A decision that took nothing is claimed at once. For
     * this library.
     */
    public synchronized boolean claimRefund(Access library) {
        Objects.requireNonNull(library, "library");
        boolean first = !refunded;
        refunded = true;
        return first;
    }

    private @Nullable LimitOutcome bindingOrNull() {
        if (answer instanceof LimitOutcome one) {
            return one;
        }
        LimitOutcome binding = null;
        for (LimitOutcome outcome : several()) {
            binding = binding == null || moreBinding(outcome, binding) ? outcome : binding;
        }
        return binding;
    }

    /** The outcomes, if there is not exactly one. */
    private LimitOutcome[] several() {
        return answer instanceof Several several ? several.outcomes : (LimitOutcome[]) answer;
    }

    private static boolean areAllowed(LimitOutcome[] outcomes) {
        boolean all = true;
        for (LimitOutcome outcome : outcomes) {
            all &= outcome.allowed();
        }
        return all;
    }

    private static boolean moreBinding(LimitOutcome one, LimitOutcome than) {
        if (one.allowed() != than.allowed()) {
            return !one.allowed();
        }
        return one.allowed()
                ? !one.limit().isBlock() && one.remaining() < than.remaining()
                : LimitOutcome.compareWaits(one.retryAfterMicros(), than.retryAfterMicros()) > 0;
    }

    @Override
    public String toString() {
        return (allowed ? "allowed" : "denied") + " by " + source + " " + outcomes();
    }
}
