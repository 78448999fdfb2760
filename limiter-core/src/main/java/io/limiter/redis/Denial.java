package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A denial by Redis for one key of one policy: until it ends, every call of the same or a higher cost is denied. Of several limits that
 * denied, it is the one that does so for the longest time. Of a policy whose denials may block the key, it is the block, or calls in
 * flight, whose denials do not count. Immutable.
 *
 * @param sent the charge that was denied
 * @param lastsMicros for how long since it was sent
 * @param denied the limit that denied it
 */
record Denial(SentCharge sent, long lastsMicros, LimitOutcome denied) {
    /** The longest use of a denial because of calls in flight, which end at any time. */
    private static final long IN_FLIGHT_MICROS = 20_000;

    /** A charge whose denial may be kept, with the hash and the epoch of its key just before its call was sent. */
    record SentCharge(Charge charge, int hash, int epoch, long sentMicros) {}

    /**
     * The denial in Redis' answer to a charge, or null if none lasts.
     *
     * @param outcomes of this charge, and possibly of others
     * @param maxAgeMicros the longest that it is used
     */
    static @Nullable Denial of(SentCharge sent, List<LimitOutcome> outcomes, long maxAgeMicros) {
        List<LimitOutcome> all = outcomes.stream()
                .filter(outcome -> !outcome.allowed()
                        // A member that is known is allowed while new ones are denied.
                        && !outcome.limit().algorithm().takesMembers()
                        // A full table denies reservations only: a plain call of the key may still be allowed.
                        && outcome.reason() != DenialReason.HOLDS_FULL
                        && outcome.charge().equals(sent.charge()))
                .toList();
        if (all.isEmpty()) {
            return null;
        }
        LimitOutcome denied = Collections.max(all, Comparator.comparingLong(Denial::lastsMicros));
        if (sent.charge().policy().penalty() != null) {
            // Calls in flight stand first, and a block last.
            denied = all.get(all.size() - 1);
            if (!denied.blocked() && !denied.limit().algorithm().isInFlight()) {
                return null;
            }
        }
        return new Denial(sent, Math.min(maxAgeMicros, lastsMicros(denied)), denied);
    }

    /**
     * A call that can never be allowed is denied for ever, but the rest of the answer is correct only until there is
     * more quota.
     */
    private static long lastsMicros(LimitOutcome outcome) {
        if (outcome.retryAfterMicros() == LimitOutcome.UNKNOWN) {
            return IN_FLIGHT_MICROS;
        }
        if (outcome.retryAfterMicros() != LimitOutcome.NEVER) {
            return outcome.retryAfterMicros();
        }
        return outcome.nextMicros() > 0 ? outcome.nextMicros() : Long.MAX_VALUE;
    }

    /** Whether it is for this key of this policy, or of one with the same name and limits. */
    boolean isOf(Policy policy, PartitionKey key) {
        Charge charge = sent.charge();
        Policy its = charge.policy();
        return charge.key().equals(key)
                && (its == policy
                        || its.name().equals(policy.name()) && its.limits().equals(policy.limits()));
    }

    /**
     * The current outcome for a call of its policy and key, which costs no less and so is denied without calling Redis; null if that is no
     * longer known.
     */
    @Nullable
    LimitOutcome answer(Charge again, long nowMicros) {
        long elapsed = nowMicros - sent.sentMicros();
        // A test's clock can step back.
        if (elapsed < 0 || elapsed >= lastsMicros) {
            return null;
        }
        Limit limit = denied.limit();
        long retryAfter = again.permitsOf(limit) > limit.capacity()
                ? LimitOutcome.NEVER
                : denied.retryAfterMicros() == LimitOutcome.UNKNOWN
                        ? LimitOutcome.UNKNOWN
                        : denied.retryAfterMicros() - elapsed;
        // After that time there is more quota, but it is unknown how much: enough for the call at the end of its wait.
        long next = elapsed < denied.nextMicros() ? denied.nextMicros() - elapsed : Math.max(0, retryAfter);
        long reset = Math.max(0, denied.resetMicros() - elapsed);
        return LimitOutcome.of(again, limit, false, denied.remaining(), retryAfter, next, reset, 0);
    }
}
