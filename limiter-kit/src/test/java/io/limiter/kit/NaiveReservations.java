package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;

/** What reservations mean, as {@link NaiveLimiter} does: from the rules alone. */
public final class NaiveReservations {
    private final NaiveLimiter limiter;

    /** Those of a model. */
    public NaiveReservations(NaiveLimiter limiter) {
        this.limiter = limiter;
    }

    /** What has run out comes back. */
    static void tidy(NaiveLimiter.Kept kept, Limit limit, long now) {
        kept.holds.tidy(now, gone -> free(kept, gone, limit, now));
    }

    /** What is held in a bucket are its open records; in a window it was counted. False if that window is over. */
    private static boolean free(NaiveLimiter.Kept kept, NaiveHolds.Hold hold, Limit limit, long now) {
        if (isBucket(limit)) {
            return true;
        }
        boolean stands = kept.count > 0 && kept.end > now && kept.end == hold.window;
        if (stands) {
            kept.count = Math.max(0, kept.count - hold.permits);
        }
        return stands;
    }

    private static boolean isBucket(Limit limit) {
        return limit.algorithm() == Algorithm.TOKEN_BUCKET;
    }

    /** Decides as a backend does for a reservation. */
    public List<LimitOutcome> reserve(List<Charge> charges, HoldTerms terms, long now) {
        limiter.tidy(charges, now);
        boolean allowed = true;
        List<Long> waits = new ArrayList<>();
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                boolean admits = limiter.look(charge, limit, now).allowed();
                boolean isHeld = admits && limit.algorithm().takesHolds();
                long wait = isHeld
                        ? limiter.kept(charge, limit)
                                .holds
                                .waitForRoom(charge.policy().holds(), now)
                        : 0;
                allowed &= admits && wait == 0;
                waits.add(wait);
            }
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            boolean denied = false;
            for (Limit limit : charge.policy().limits()) {
                if (limit.algorithm() == Algorithm.BLOCK) {
                    if (denied) {
                        limiter.kept(charge, limit).block.settle(limit, now);
                        limiter.kept(charge, limit).block.count(limit, now);
                    }
                    outcomes.add(limiter.decide(charge, limit, Mode.TAKE, allowed, now));
                } else {
                    LimitOutcome outcome = allowed
                            ? hold(charge, limit, terms, now)
                            : orFull(limiter.decide(charge, limit, Mode.TAKE, false, now), waits.get(outcomes.size()));
                    denied |= !outcome.allowed();
                    outcomes.add(outcome);
                }
            }
        }
        return outcomes;
    }

    private static LimitOutcome orFull(LimitOutcome rest, long wait) {
        return wait == 0
                ? rest
                : LimitOutcome.of(
                        rest.charge(),
                        rest.limit(),
                        false,
                        rest.remaining(),
                        wait,
                        rest.nextMicros(),
                        rest.resetMicros(),
                        LimitOutcome.HOLDS_FULL);
    }

    private LimitOutcome hold(Charge charge, Limit limit, HoldTerms terms, long now) {
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        NaiveLimiter.settle(kept, limit, now);
        if (!isBucket(limit)) {
            NaiveLimiter.take(kept, charge, limit, now, now);
        }
        long window = isBucket(limit) ? 0 : kept.end;
        kept.holds.add(new NaiveHolds.Hold(terms, charge.permits(), window, now + terms.ttlMicros()));
        LimitOutcome after = limiter.look(new Charge(charge.policy(), charge.key(), 0), limit, now);
        return LimitOutcome.of(
                charge, limit, true, after.remaining(), 0, after.nextMicros(), after.resetMicros(), window);
    }

    /** Settles one outcome of a reservation. */
    public Backend.Settled settle(LimitOutcome outcome, String id, long cost, long now) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        if (limit.algorithm() == Algorithm.BLOCK) {
            return new Backend.Settled(Settlement.SETTLED, 0);
        }
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        tidy(kept, limit, now);
        NaiveHolds.Hold hold = kept.holds.find(id);
        if (hold == null) {
            NaiveLimiter.settle(kept, limit, now);
            return new Backend.Settled(Settlement.ENDED, 0);
        }
        kept.holds.remove(hold);
        boolean stands = kept.count > 0 && kept.end > now;
        long base = !hold.isMarked && free(kept, hold, limit, now) ? Math.min(cost, hold.permits) : 0;
        long excess = hold.isMarked ? cost : Math.max(0, cost - hold.permits);
        long capacity = limit.capacity();
        NaiveLimiter.settle(kept, limit, now);
        long room = Math.max(0, 2 * capacity - used(kept, limit, 0, now));
        long charged = Math.min(base + Math.min(excess, capacity), room);
        if (stands) {
            kept.count += charged;
        } else if (charged > 0) {
            NaiveLimiter.take(kept, new Charge(charge.policy(), charge.key(), charged), limit, now, now);
        }
        return new Backend.Settled(Settlement.SETTLED, base + excess - charged);
    }

    private static long used(NaiveLimiter.Kept kept, Limit limit, long held, long now) {
        return isBucket(limit) ? kept.bucket.used(limit, held, now) : kept.end > now ? kept.count : 0;
    }

    /** How many reservations of the charge's key are open, in one of its limits. */
    public int open(Charge charge) {
        return charge.policy().limits().stream()
                .mapToInt(limit -> limiter.kept(charge, limit).holds.open())
                .max()
                .orElse(0);
    }

    /** The permits of one limit that count now, with those that are held. */
    public long used(Charge charge, Limit limit, long now) {
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        return used(kept, limit, kept.holds.held(), now);
    }

    /** What a call would be told at a later time, if there was none before. */
    public List<LimitOutcome> later(List<Charge> charges, long now) {
        return limiter.without(charges, () -> {
            charges.forEach(charge -> limiter.tidy(List.of(new Charge(charge.policy(), charge.key(), 1)), now));
            return limiter.decide(charges, Mode.LOOK, now);
        });
    }
}
