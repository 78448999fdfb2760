package io.limiter;

import io.limiter.internal.Access;
import io.limiter.internal.Algorithm;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The answer of one limit to one charge. Thread-safe; the answer never changes. Durations are in microseconds.
 *
 * <p>Example: 3 per 10 s as a sliding log, one call at 0 s, 4 s and 9 s, and a fourth at 9.5 s: {@code allowed} false,
 * {@code remaining} 0, {@code retryAfterMicros} and {@code nextMicros} 500 000 (the call of 0 s leaves the log at 10 s),
 * {@code resetMicros} 9 500 000 (the call of 9 s leaves it at 19 s).
 */
public final class LimitOutcome {
    /** The {@code retryAfterMicros} of a charge that can never be allowed. */
    public static final long NEVER = -1;

    /** The {@code retryAfterMicros} of a charge that is allowed when calls in flight end, which nobody knows. */
    public static final long UNKNOWN = -8;

    /** The {@code stampMicros} of a reservation that is denied because there are too many. For this library. */
    public static final long HOLDS_FULL = -DenialReason.HOLDS_FULL.number();

    /** What is stored of such a one: this less how long to wait. */
    private static final long FULL = -16;

    // The parts of the charge rather than the charge: one of these is kept with each decision.
    private final Policy policy;
    private final PartitionKey key;
    /** The charge itself if it has more than those; or what holds its permits; or both. One reference, as for a decision. */
    private @Nullable Object beside;

    private final Limit limit;
    private final boolean allowed;
    private final long permits;
    private final long remaining;
    /**
     * The timestamp if the limit allows the charge, else how long to wait: never both are needed. Below 0 means never:
     * for an allotment the number of the reason, negative. Up to {@link #FULL}: how long to wait until a hold has room.
     */
    private final long stampOrWait;

    private final long next;
    private final long reset;
    /** Whether the call that it took permits for has ended. */
    private boolean ended;

    /** What holds permits of calls in flight. Thread-safe. For this library. */
    @FunctionalInterface
    public interface Holder {
        /** Gives back what the outcome holds, in the background, if this is the first end of it: then true. If that fails, it comes back by itself. */
        boolean end(LimitOutcome held);
    }

    private record Both(Charge charge, Holder holder) {}

    /**
     * An outcome.
     *
     * @param charge the charge
     * @param limit the limit, one of the charge's policy
     * @param allowed whether this limit allows the charge
     * @param remaining permits left after this answer
     * @param retryAfterMicros see {@link #retryAfterMicros()}; undefined where allowed
     * @param nextMicros see {@link #nextMicros()}
     * @param resetMicros see {@link #resetMicros()}
     * @param stampMicros see {@link #stampMicros()}; where an allotment denies, the number of its {@link #reason()}; else
     *     without meaning where not allowed
     */
    public static LimitOutcome of(
            Charge charge,
            Limit limit,
            boolean allowed,
            long remaining,
            long retryAfterMicros,
            long nextMicros,
            long resetMicros,
            long stampMicros) {
        // Nothing is decided between the allocation and the last field: else the compiler clears the memory before, and
        // marks it for the garbage collector.
        Object beside = charge.isPlain() ? null : charge;
        long stampOrWait = allowed ? stampMicros : stored(limit, retryAfterMicros, stampMicros);
        return new LimitOutcome(charge, beside, limit, allowed, remaining, stampOrWait, nextMicros, resetMicros);
    }

    private LimitOutcome(
            Charge charge,
            @Nullable Object beside,
            Limit limit,
            boolean allowed,
            long remaining,
            long stampOrWait,
            long next,
            long reset) {
        this.policy = charge.policy();
        this.key = charge.key();
        this.permits = charge.permits();
        this.beside = beside;
        this.limit = limit;
        this.allowed = allowed;
        this.remaining = remaining;
        this.stampOrWait = stampOrWait;
        this.next = next;
        this.reset = reset;
    }

    private static long stored(Limit limit, long retryAfter, long reason) {
        boolean isReason = limit.algorithm() == Algorithm.ALLOTMENT
                && retryAfter == NEVER
                && reason > 0
                && DenialReason.ofNumber(reason) != null;
        return isReason ? -reason : reason == HOLDS_FULL ? FULL - Math.max(0, retryAfter) : retryAfter;
    }

    /** The charge; equal to the one that was given, not always the same object. */
    public Charge charge() {
        Object extra = beside;
        return extra instanceof Charge marked
                ? marked
                : extra instanceof Both both ? both.charge : new Charge(policy, key, permits);
    }

    /** The permits of the charge. */
    public long permits() {
        return permits;
    }

    /** The policy of the charge. */
    public Policy policy() {
        return policy;
    }

    /** The limit, one of the policy. */
    public Limit limit() {
        return limit;
    }

    /** Whether this limit allows the charge; the decision is allowed when all of them do. */
    public boolean allowed() {
        return allowed;
    }

    /** Whether this is a block that denies. */
    public boolean blocked() {
        return !allowed && limit.isBlock();
    }

    /** Permits left after this answer; of a block the denials that are left until it denies. */
    public long remaining() {
        return remaining;
    }

    /**
     * Time until this charge would be allowed if there are no other calls; 0 when allowed, {@link #NEVER} when it asks
     * for more than the
     * limit can ever give, {@link #UNKNOWN} where it waits for calls in flight.
     */
    public long retryAfterMicros() {
        if (allowed || stampOrWait == UNKNOWN) {
            return allowed ? 0 : UNKNOWN;
        }
        return stampOrWait <= FULL ? FULL - stampOrWait : Math.max(NEVER, stampOrWait);
    }

    /** Compares two {@link #retryAfterMicros}: the longest is {@link #NEVER}, the shortest {@link #UNKNOWN}. */
    public static int compareWaits(long one, long other) {
        // As unsigned numbers NEVER, which is -1, is the longest.
        return Long.compareUnsigned(one == UNKNOWN ? 0 : one, other == UNKNOWN ? 0 : other);
    }

    /** Why the limit denies the charge; null where it allows it. */
    public @Nullable DenialReason reason() {
        if (!allowed && stampOrWait <= FULL) {
            return DenialReason.HOLDS_FULL;
        }
        if (allowed || limit.algorithm() != Algorithm.ALLOTMENT) {
            return allowed ? null : DenialReason.QUOTA;
        }
        return stampOrWait < 0 ? DenialReason.ofNumber(-stampOrWait) : DenialReason.NOT_OPEN;
    }

    /** Time until there is more quota than now; 0 if none is used. */
    public long nextMicros() {
        return next;
    }

    /** Time until all quota is available again. */
    public long resetMicros() {
        return reset;
    }

    /**
     * What a refund needs: the end of a fixed window, else the time of the charge; of a reservation what its settlement
     * needs: when this part of it ends. In the backend's clock; opaque
     * to callers. 0 when not allowed: then there is nothing to give back.
     */
    public long stampMicros() {
        return allowed ? stampOrWait : 0;
    }

    /** Whether it holds permits until the end of the call. For this library. */
    public boolean isInFlight() {
        return limit.isInFlight() && allowed && permits > 0;
    }

    /** What it took, under another policy of that name: of the limit with the same state, if that grants anything; else this. For this library. */
    public LimitOutcome under(Charge other) {
        return other.policy().limits().stream()
                .filter(one -> one.permits() > 0
                        && one.algorithm() == limit.algorithm()
                        && one.identity().equals(limit.identity()))
                .findFirst()
                .map(one -> of(other, one, true, 0, 0, 0, 0, stampMicros()))
                .orElse(this);
    }

    /** Claims the one end of what it holds: true the first time. For its {@link Holder}, under a lock; another operation costs as much. */
    public boolean claimEnd(Access library) {
        Objects.requireNonNull(library, "library");
        boolean first = isInFlight() && !ended;
        ended = true;
        return first;
    }

    /** Sets what holds its permits, before others see it. For this library. */
    public LimitOutcome heldBy(Access library, Holder holder) {
        Objects.requireNonNull(library, "library");
        beside = beside instanceof Charge marked ? new Both(marked, holder) : holder;
        return this;
    }

    /** What holds its permits; null if they are in no state of this JVM. For this library. */
    public @Nullable Holder holder() {
        Object extra = beside;
        return extra instanceof Holder holder ? holder : extra instanceof Both both ? both.holder : null;
    }

    @Override
    public String toString() {
        return "LimitOutcome[" + charge() + ", " + limit + ", " + (allowed ? "allowed" : "denied by " + reason())
                + ", remaining="
                + remaining + ", retryAfterMicros=" + retryAfterMicros() + ", nextMicros=" + next + ", resetMicros="
                + reset + ", stampMicros=" + stampMicros() + "]";
    }

    /** Why a limit denies. */
    public enum DenialReason {
        /** Its permits are used up, or the call asks for more than there can be. */
        QUOTA(0),
        /** Of a {@linkplain Limit#allotment stock}: the stock has less left than the call asks for. */
        SOLD_OUT(1),
        /** Of a {@linkplain Limit#allotment stock}: the member would have more than one may have. */
        ALREADY_HAD(2),
        /** Of a {@linkplain Limit#allotment stock}: it opens later; the only one that can change by itself. */
        NOT_OPEN(3),
        /** Of a {@linkplain Limit#allotment stock}: it has closed. */
        CLOSED(4),
        /**
         * Of a {@linkplain Limit#allotment stock}: one call asks for more than a member may have, or comes again with its request id and
         * another quantity.
         */
        QUANTITY(5),
        /** Of a {@linkplain RateLimiter#reserve reservation}: as many of its key are kept as its policy allows. */
        HOLDS_FULL(6);

        /** In scripts and states, so it never changes. */
        private final int number;

        DenialReason(int number) {
            this.number = number;
        }

        /** The number that scripts return and states keep. */
        public int number() {
            return number;
        }

        /** The reason of that number; null if there is none. */
        static @Nullable DenialReason ofNumber(long number) {
            for (DenialReason reason : values()) {
                if (reason.number == number) {
                    return reason;
                }
            }
            return null;
        }

        /** The name in configuration and answers, such as {@code sold-out}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
