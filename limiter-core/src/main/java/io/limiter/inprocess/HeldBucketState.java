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

    /** The time that has passed with nothing missing but what is held, less what settlements have used of it. */
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
        return Math.min(spec.burst(), open.total() - open.until(now));
    }

    @Override
    TokenBucketState settled(Charge charge, Limit limit, long now, boolean write) {
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
        boolean writes = charge.permits() > 0 && (granted || take);
        TokenBucketState bucket = take || !writes ? settled : settled.copy();
        long stamp = bucket.answer(charge, limit, permits, now, allowed, granted, writes)
                .stampMicros();
        Told told = new Told(bucket, limit.spec(), now);
        long remaining = told.remaining();
        long burst = limit.spec().burst();
        return new LimitOutcome(
                charge,
                limit,
                allowed,
                remaining,
                permits > burst ? LimitOutcome.NEVER : told.until(permits),
                told.until(Math.min(burst, remaining + 1)),
                told.until(burst),
                stamp);
    }

    /** The times at which a call passes if nobody else calls and every hold is settled as it was reserved. */
    private final class Told {
        final TokenBucketState bucket;
        final LimitSpec spec;
        final long now;
        final long held;
        final long unit;
        final long level;

        Told(TokenBucketState bucket, LimitSpec spec, long now) {
            this.bucket = bucket;
            this.spec = spec;
            this.now = now;
            this.held = held(spec, now);
            this.unit = bucket.partsOf(spec);
            this.level = bucket.level(spec, now);
        }

        long remaining() {
            return Math.max(0, Math.floorDiv(level, unit) - held);
        }

        long until(long permits) {
            if (permits + held <= spec.burst()) {
                return bucket.waitFor((permits + held) * unit, spec, now);
            }
            // Then the last hold has ended.
            long last = open.beyond(open.total() - 1);
            long lacks = (permits + held) * unit - bucket.level(spec, last);
            return last - now + State.ceilDiv(Math.max(0, lacks), bucket.rateOf(spec));
        }
    }

    @Override
    LimitOutcome hold(Charge charge, Limit limit, long now) {
        state.spend(limit.spec(), 0, now);
        return new LimitOutcome(charge, limit, true, 0, 0, 0, 0, now);
    }

    @Override
    long idleMicros() {
        idle = open.total() == 0 ? 0 : idle;
        return idle;
    }

    /** As if the cost had been taken at the beginning: what would have refilled since is not taken. */
    @Override
    void close(Charge charge, Hold hold, long cost, Limit limit, long now) {
        LimitSpec spec = limit.spec();
        // A smaller bucket than then forgets the rest: no debt is larger than it.
        long counts = Math.min(cost, Math.max(0, 2 * spec.burst() - counted(limit, now)));
        long parts = counts * state.partsOf(spec);
        long spareMicros = Math.max(0, idle - hold.idle);
        long spare = spareMicros >= ceilDiv(parts, rate) ? parts : spareMicros * rate;
        idle -= ceilDiv(spare, rate);
        state.spend(spec, parts - spare, now);
    }

    @Override
    void force(Charge charge, Limit limit, long permits, long now) {
        state.spend(limit.spec(), permits * state.partsOf(limit.spec()), now);
    }

    @Override
    long counted(Limit limit, long now) {
        LimitSpec spec = limit.spec();
        long unit = state.partsOf(spec);
        return spec.burst() - Math.floorDiv(state.level(spec, now), unit) + held(spec, now);
    }
}
