package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.DenialReason;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A denial by Redis for one key of one policy: until it ends, every call of the same or a higher cost is denied. Immutable. Of a
 * policy whose denials may block the key, it is one by the block, or by calls in flight, which does not count.
 *
 * @param sent the charge that was denied
 * @param untilMicros when the last of the denials ends
 * @param denied the limits that denied it
 */
record Denial(SentCharge sent, long untilMicros, LimitOutcome[] denied) {
    /** The longest use of a denial because of calls in flight, which end at any time. */
    private static final long IN_FLIGHT_MICROS = 20_000;

    /** A charge whose denial may be kept, with the hash and the epoch of its key just before its call was sent. */
    record SentCharge(Charge charge, int hash, int epoch, long sentMicros) {}

    /**
     * The denials in Redis' answer to a charge, or null if none of them lasts.
     *
     * @param outcomes of this charge, and possibly of others
     * @param maxAgeMicros the longest that they are used
     */
    static @Nullable Denial of(SentCharge sent, List<LimitOutcome> outcomes, long maxAgeMicros) {
        LimitOutcome[] denied = outcomes.stream()
                .filter(outcome -> !outcome.allowed()
                        && outcome.limit().algorithm().isDenialLasting()
                        // A full table denies reservations only: a plain call of the key may still be allowed.
                        && outcome.reason() != DenialReason.HOLDS_FULL
                        && outcome.charge().equals(sent.charge()))
                .toArray(LimitOutcome[]::new);
        if (denied.length == 0 || isCounted(sent.charge().policy(), denied[denied.length - 1])) {
            return null;
        }
        long longest =
                Arrays.stream(denied).mapToLong(Denial::lastsMicros).max().orElseThrow();
        return new Denial(sent, sent.sentMicros() + Math.min(maxAgeMicros, longest), denied);
    }

    /**
     * Whether Redis has to count a denial, which may lead to a block.
     *
     * @param last of the outcomes that deny: calls in flight, whose denials do not count, stand first, and a block last
     */
    private static boolean isCounted(Policy policy, LimitOutcome last) {
        return policy.penalty() != null
                && !last.blocked()
                && !last.limit().algorithm().isInFlight();
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

    /** Whether it is for this policy and key, which have the given hash. */
    boolean isOf(int hash, Policy policy, PartitionKey key) {
        Charge charge = sent.charge();
        return sent.hash() == hash
                && charge.key().equals(key)
                && (charge.policy() == policy || charge.policy().name().equals(policy.name()));
    }

    /**
     * The current outcomes for a call of this policy and key, which costs no less and so is denied without calling
     * Redis; none if nothing is known any more, or Redis has to count it.
     */
    LimitOutcome[] answers(Charge again, long nowMicros) {
        LimitOutcome[] answers = new LimitOutcome[denied.length];
        int count = 0;
        for (LimitOutcome then : denied) {
            LimitOutcome now = answer(then, again, nowMicros);
            if (now != null) {
                answers[count++] = now;
            }
        }
        boolean isKnown = count > 0 && !isCounted(again.policy(), answers[count - 1]);
        return isKnown && count == denied.length ? answers : Arrays.copyOf(answers, isKnown ? count : 0);
    }

    /** The current outcome of one of the limits; null if that is no longer known, or never was. */
    private @Nullable LimitOutcome answer(LimitOutcome then, Charge again, long nowMicros) {
        Limit limit = then.limit();
        long elapsed = nowMicros - sent.sentMicros();
        // A test's clock can step back.
        boolean isOver = elapsed < 0 || nowMicros >= untilMicros || elapsed >= lastsMicros(then);
        // A policy of that name with other numbers, or other limits, shares the state and decides differently.
        if (isOver
                || again.policy() != sent.charge().policy()
                        && !again.policy().limits().contains(limit)) {
            return null;
        }
        long retryAfter = again.permitsOf(limit) > limit.capacity()
                ? LimitOutcome.NEVER
                : then.retryAfterMicros() == LimitOutcome.UNKNOWN
                        ? LimitOutcome.UNKNOWN
                        : then.retryAfterMicros() - elapsed;
        // After that time there is more quota, but it is unknown how much: enough for the call at the end of its wait.
        long next = elapsed < then.nextMicros() ? then.nextMicros() - elapsed : Math.max(0, retryAfter);
        long reset = Math.max(0, then.resetMicros() - elapsed);
        return LimitOutcome.of(again, limit, false, then.remaining(), retryAfter, next, reset, 0);
    }
}
