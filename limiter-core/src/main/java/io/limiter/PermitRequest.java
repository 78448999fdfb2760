package io.limiter;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a call asks of a {@link RateLimiter}: the permits of all its charges, or of none; and how long it may wait, or
 * whether it only looks. Immutable.
 *
 * <pre>{@code
 * limiter.acquire(PermitRequest.of(policy, key, 1).withMaxWait(Duration.ofSeconds(2)));
 * }</pre>
 */
public final class PermitRequest {
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);

    private final List<Charge> charges;
    private final Backend.Mode mode;
    private final boolean shadow;
    private final boolean blocking;
    private final boolean end;
    /** By {@link Charge#quota}: those of a local share are other charges. Null if the call can't wait. */
    private final @Nullable Map<List<@Nullable Object>, Duration> maxWaits;

    private PermitRequest(
            List<Charge> charges,
            Backend.Mode mode,
            boolean shadow,
            boolean blocking,
            boolean end,
            @Nullable Map<List<@Nullable Object>, Duration> maxWaits) {
        this.charges = charges;
        this.mode = mode;
        this.shadow = shadow;
        this.blocking = blocking;
        this.end = end;
        this.maxWaits = maxWaits;
    }

    /** A request for permits of one policy for one key; 0 permits show the state. */
    public static PermitRequest of(Policy policy, PartitionKey key, long permits) {
        return of(List.of(new Charge(policy, key, permits)));
    }

    /**
     * A request for the permits of all these charges together.
     *
     * @throws IllegalArgumentException if there is no charge, or two charges have the same policy name, key and member
     */
    public static PermitRequest of(List<Charge> charges) {
        List<Charge> checked = List.copyOf(charges);
        if (checked.isEmpty()) {
            throw new IllegalArgumentException("no charges; give at least one");
        }
        if (checked.size() > 1) {
            checkDistinct(checked);
        }
        return new PermitRequest(checked, Backend.Mode.TAKE, false, false, false, null);
    }

    private static void checkDistinct(List<Charge> charges) {
        Set<List<@Nullable Object>> quotas = new HashSet<>();
        for (Charge charge : charges) {
            if (!quotas.add(charge.quota())) {
                throw new IllegalArgumentException(
                        "two charges to policy '" + charge.policy().name() + "' for key '" + charge.key()
                                + "'; ask once with the sum of their permits");
            }
        }
    }

    /** A request for each of the charges by itself, in their order: {@link RateLimiter#acquireEachAsync}. */
    public static List<PermitRequest> each(List<Charge> charges) {
        return charges.stream().map(charge -> of(List.of(charge))).toList();
    }

    /**
     * The same, and a call that is denied may wait for its permits that long. It keeps its turn behind those that wait
     * already, also with a wait of zero.
     *
     * @param longest from 0 to 1 day
     * @throws IllegalArgumentException if it is out of range, or a policy counts members
     */
    public PermitRequest withMaxWait(Duration longest) {
        return withMaxWait(charge -> longest);
    }

    /**
     * The same with a wait for each charge.
     *
     * @param longest how long the call may wait for a charge that is denied; of several that are denied, the shortest
     */
    public PermitRequest withMaxWait(Function<? super Charge, Duration> longest) {
        Map<List<@Nullable Object>, Duration> waits = new HashMap<>();
        for (Charge charge : charges) {
            waits.put(charge.quota(), checked(charge.policy(), longest.apply(charge)));
        }
        return new PermitRequest(charges, mode, shadow, blocking, end, waits);
    }

    private static Duration checked(Policy policy, Duration wait) {
        if (!wait.isZero() && policy.takesMembers()) {
            // Calls of known members would wait behind those that are denied.
            throw new IllegalArgumentException(
                    "policy '" + policy.name() + "' counts members, so no call to it can wait; call it without a wait");
        }
        if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException("a wait of " + wait + " is outside 0 s to 1 day; write a shorter one");
        }
        return wait;
    }

    /** The same, but it takes and counts nothing, and never waits. */
    public PermitRequest withLook() {
        return new PermitRequest(charges, Backend.Mode.LOOK, shadow, blocking, end, maxWaits);
    }

    /**
     * The same, but it takes nothing if all limits allow the charges. It denies as the call would, also from memory, and the
     * denial counts. For a caller that needs something costly before it can ask with all its charges. It never waits.
     */
    public PermitRequest withCheck() {
        return new PermitRequest(charges, Backend.Mode.ASK, shadow, blocking, end, maxWaits);
    }

    /** The same, but a denial has no effect on the caller: {@link LimiterMonitor#busiest} lists it separately. It never waits. */
    public PermitRequest withShadow() {
        return new PermitRequest(charges, mode, true, blocking, end, maxWaits);
    }

    /**
     * The same, but {@link RateLimiter#acquireAsync} may block the calling thread for the backend, though not for permits:
     * its future is complete when it returns, unless the call waits.
     */
    public PermitRequest withBlocking() {
        return new PermitRequest(charges, mode, shadow, true, end, maxWaits);
    }

    /** The same by a caller that {@linkplain RateLimiter#end ends} each decision that it gets, which policies {@linkplain Policy#isInFlight of calls in flight} need. */
    public PermitRequest withEnd() {
        return new PermitRequest(charges, mode, shadow, blocking, true, maxWaits);
    }

    /** What the call costs. */
    public List<Charge> charges() {
        return charges;
    }

    /** Whether it takes what it is granted, denies only, or looks. */
    public Backend.Mode mode() {
        return mode;
    }

    /** Whether a denial has no effect on the caller. */
    public boolean isShadow() {
        return shadow;
    }

    /** Whether the caller ends what it is granted. */
    public boolean hasEnd() {
        return end;
    }

    /** Whether the calling thread may wait for the backend. */
    public boolean isBlocking() {
        return blocking;
    }

    /** Whether a denied call can wait, or has to respect those that do. */
    public boolean mayWait() {
        return maxWaits != null && mode == Backend.Mode.TAKE && !shadow;
    }

    /** How long the call may wait for a charge, found by the name of its policy, its key and its member. */
    public Duration maxWait(Charge charge) {
        return maxWaits == null ? Duration.ZERO : maxWaits.getOrDefault(charge.quota(), Duration.ZERO);
    }

    @Override
    public String toString() {
        return "PermitRequest[" + charges + ", " + mode + (shadow ? ", shadow" : "")
                + (mayWait() ? ", waits " + maxWaits : "") + "]";
    }
}
