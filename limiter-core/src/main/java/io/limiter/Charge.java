package io.limiter;

import io.limiter.internal.Algorithm;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Permits of one policy for one key: what a call costs. Immutable.
 *
 * @param policy the policy to charge
 * @param key whose quota
 * @param permits how many; 0 takes nothing: always allowed, it shows the state
 * @param requestId the call's own id, or null. A call repeated with its id within the period is admitted again and
 *     charged once, so that a retry after a time-out is safe. One id means one call: it must be repeated with the same
 *     permits (an allotment denies other ones). Only for policies whose limits all keep ids: {@link Limit#slidingZset}, or an {@link
 *     Limit#allotment}. It must never be read from an untrusted request: a client that can repeat an id is
 *     admitted for free
 * @param member what the call does or is done with, for algorithms that count members
 *     ({@link Limit#distinct}, {@link Limit#allotment}), encoded like a key: {@code PartitionKey.of(text)}. Null is a member too, the
 *     missing one, which is also that of an empty {@linkplain PartitionKey.Builder#addStandIn stand-in}
 */
public record Charge(
        Policy policy,
        PartitionKey key,
        long permits,
        @Nullable String requestId,
        @Nullable PartitionKey member) {
    private static final int MAX_MEMBER = 2 * PartitionKey.MAX_PART;
    private static final PartitionKey MISSING =
            PartitionKey.builder().addStandIn("").build();

    /**
     * Checks the charge.
     *
     * @throws IllegalArgumentException if permits are negative or above {@link Limit#MAX_PERMITS}, or above 1 where the
     *     policy has a limit of {@linkplain Limit#distinct distinct members}, the request id is empty, or the policy can't keep request ids or members
     */
    public Charge {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(key, "key");
        if (permits < 0 || permits > Limit.MAX_PERMITS) {
            throw new IllegalArgumentException("a charge of " + permits + " permits to policy '" + policy.name()
                    + "' is outside 0.." + Limit.MAX_PERMITS + "; to give permits back use refund(decision)");
        }
        if (requestId != null) {
            checkRequestId(policy, requestId);
        }
        if (member != null && !policy.takesMembers()) {
            throw new IllegalArgumentException(
                    "policy '" + policy.name() + "' counts no members; leave the member out");
        }
        if (permits > 1 && policy.limits().stream().anyMatch(limit -> limit.algorithm() == Algorithm.DISTINCT)) {
            throw new IllegalArgumentException("a charge of " + permits + " permits to policy '" + policy.name()
                    + "', which counts different members, and one charge has one; use 1");
        }
        member = member == null || MISSING.equals(member) ? null : member;
    }

    /** A charge without a member. */
    public Charge(Policy policy, PartitionKey key, long permits, @Nullable String requestId) {
        this(policy, key, permits, requestId, null);
    }

    /** A charge without a request id. */
    public Charge(Policy policy, PartitionKey key, long permits) {
        this(policy, key, permits, null, null);
    }

    /** Whether another charge of as many permits to the same policy and key is the same: it has no id and no member. */
    public boolean isPlain() {
        return requestId == null && member == null;
    }

    /**
     * Whether another charge uses the same quota for the same member: the name of its policy, its key and its member
     * are equal.
     */
    public boolean isToSame(Charge other) {
        return key.equals(other.key)
                && policy.name().equals(other.policy.name())
                && Objects.equals(member, other.member);
    }

    /** How many permits it takes of a limit of its policy: one at most if that {@linkplain Policy#countsCalls counts calls}. */
    public long permitsOf(Limit limit) {
        return policy.countsCalls(limit) ? Math.min(1, permits) : permits;
    }

    /** What it takes of a limit of its policy, as a charge. For this library. */
    public Charge of(Limit limit) {
        long taken = permitsOf(limit);
        return taken == permits ? this : new Charge(policy, key, taken, requestId, member);
    }

    /** Equal for charges that are {@linkplain #isToSame to the same}. */
    List<@Nullable Object> quota() {
        return Arrays.asList(policy.name(), key, member);
    }

    /**
     * The member as states store it: at most {@value #MAX_MEMBER} characters of printable ASCII without spaces and
     * braces, a
     * hash of a longer encoding; empty for the missing member.
     */
    public String memberText() {
        String text = member == null ? "" : member.canonical();
        // As a stand-in, so that no member of one part has the hash of one of several parts.
        return text.length() <= MAX_MEMBER
                ? text
                : PartitionKey.builder().addStandIn(text).build().canonical();
    }

    private static void checkRequestId(Policy policy, String requestId) {
        if (requestId.isEmpty()) {
            throw new IllegalArgumentException("the request id of a charge to policy '" + policy.name()
                    + "' is empty; give each call its own id, or none");
        }
        for (Limit limit : policy.limits()) {
            if (!limit.algorithm().takesRequestIds()) {
                throw new IllegalArgumentException("policy '" + policy.name() + "' can't keep the request id '"
                        + requestId + "': its limit '" + limit
                        + "' is not sliding-zset or allotment; leave the id out, or"
                        + " make all limits of the policy sliding-zset");
            }
        }
    }
}
