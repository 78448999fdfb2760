package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.inprocess.HoldRecords.Hold;
import io.limiter.internal.LimitSpec;

/**
 * A bucket whose permits can be reserved. What is held is not taken from the inner bucket but needed on top of each call: so it
 * refills up to its capacity less what is held, and a hold that ends gives back all of it.
 */
final class HeldBucketState extends HeldState<TokenBucketState> {
    /** What a change of the rate takes from the idle time: more than any record lives, so that none has a share of it any more. */
    private static final long OTHER_RATE = 200_000_000_000L;

    private static final long LEAST_IDLE = -8_000_000_000_000_000L;

    /** How long the bucket was full but for what is held, so that it did not refill. Settlements take from it what they use. */
    private long idle;

    private long idleUntil;

    /** The rate at which idle time was counted last, as parts of a permit and how many of them a microsecond brings. */
    private long parts;

    private long rate;

    HeldBucketState(TokenBucketState state, Capacity.Share stamps) {
        super(state, stamps);
    }

    /** At most what the bucket holds, which may have been made smaller since. */
    private long held(LimitSpec spec, long now) {
        return Math.min(spec.burst(), records.held(now));
    }

    /** What is held is not in the inner bucket. */
    @Override
    TokenBucketState settled(Limit limit, long now, boolean write) {
        if (write) {
            runOut(now, true);
            countIdle(limit.spec(), now);
        }
        return state;
    }

    /** Idle time counts at one rate: at another one nobody knows what would have refilled. */
    private void countIdle(LimitSpec spec, long now) {
        if (parts != state.partsOf(spec) || rate != state.rateOf(spec)) {
            parts = state.partsOf(spec);
            rate = state.rateOf(spec);
            idle = Math.max(LEAST_IDLE, idle - OTHER_RATE);
        } else if (idle > LEAST_IDLE) {
            idle += Math.max(0, now - Math.max(idleUntil, state.fullAtMicros()));
        }
        idleUntil = Math.max(idleUntil, now);
    }

    @Override
    long idleMicros(long now) {
        idle = records.held(now) == 0 ? 0 : idle;
        return idle;
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        return super.check(charge, limit, permits + held(limit.spec(), now), now, take);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        boolean given = super.giveBack(charge, limit, stamp, now);
        if (given && held(limit.spec(), now) > 0) {
            // It is full sooner than its state says, and idle from then on.
            state.spend(limit.spec(), 0, now);
        }
        return given;
    }

    @Override
    LimitOutcome answerOf(
            TokenBucketState settled,
            Charge charge,
            Limit limit,
            long permits,
            long now,
            boolean allowed,
            boolean granted,
            boolean take) {
        LimitSpec spec = limit.spec();
        boolean writes = charge.permits() > 0 && (granted || take);
        TokenBucketState bucket = take || !writes ? settled : settled.copy();
        long stamp = bucket.answer(charge, limit, permits, now, allowed, granted, writes)
                .stampMicros();
        long held = held(spec, now);
        long whole = Math.floorDiv(bucket.level(spec, now), bucket.partsOf(spec));
        long remaining = Math.max(0, whole - held);
        return LimitOutcome.of(
                charge,
                limit,
                allowed,
                remaining,
                permits > spec.burst() ? LimitOutcome.NEVER : timeUntil(permits + held, bucket, spec, now),
                timeUntil(Math.min(spec.burst(), remaining + 1) + held, bucket, spec, now),
                timeUntil(spec.burst() + held, bucket, spec, now),
                stamp);
    }

    /**
     * How long until a call passes if nobody else calls and every hold is settled as it was reserved.
     *
     * @param wanted its permits, and those that are held
     */
    private long timeUntil(long wanted, TokenBucketState bucket, LimitSpec spec, long now) {
        if (wanted <= spec.burst()) {
            return bucket.waitFor(wanted * bucket.partsOf(spec), spec, now);
        }
        // Then the last hold has ended.
        long last = records.lastEnd(now);
        long lacks = wanted * bucket.partsOf(spec) - bucket.level(spec, last);
        return last - now + ceilDiv(Math.max(0, lacks), bucket.rateOf(spec));
    }

    /** A hold takes nothing; a settlement may take more than there is. */
    @Override
    LimitOutcome force(Charge charge, Limit limit, long now, boolean isHold) {
        state.spend(limit.spec(), isHold ? 0 : charge.permits() * state.partsOf(limit.spec()), now);
        return LimitOutcome.of(charge, limit, true, 0, 0, 0, 0, now);
    }

    /** As if the cost had been taken at the beginning: what would have refilled since is not taken. */
    @Override
    void close(Charge charge, Hold hold, long cost, Limit limit, long now) {
        LimitSpec spec = limit.spec();
        // A smaller bucket than then forgets the rest: no debt is larger than it.
        long counts = Math.min(cost, Math.max(0, 2 * spec.burst() - counted(limit, now)));
        long needed = counts * parts;
        long spareMicros = Math.max(0, idle - hold.idle);
        long spare = spareMicros >= ceilDiv(needed, rate) ? needed : spareMicros * rate;
        idle -= ceilDiv(spare, rate);
        state.spend(spec, needed - spare, now);
    }

    @Override
    long counted(Limit limit, long now) {
        LimitSpec spec = limit.spec();
        long whole = Math.floorDiv(state.level(spec, now), state.partsOf(spec));
        return spec.burst() - whole + held(spec, now);
    }
}
