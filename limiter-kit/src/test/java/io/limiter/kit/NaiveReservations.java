package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Settlement;
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

    /** What has run out comes back, and the idle time of a bucket is counted before it changes. */
    static void runOut(NaiveLimiter.Kept kept, Limit limit, long now) {
        for (NaiveHolds.Hold hold : kept.holds.runOut(now)) {
            hold.isOver = true;
            if (limit.spec().algorithm() != Algorithm.TOKEN_BUCKET) {
                runOut(kept, hold, limit, now);
            }
        }
        kept.holds.count(limit, kept.bucket.fullAt(), now);
    }

    /** The window stays as it is: whoever only looks does not make it shorter. */
    private static void runOut(NaiveLimiter.Kept kept, NaiveHolds.Hold hold, Limit limit, long now) {
        if (limit.spec().algorithm() != Algorithm.FIXED_WINDOW) {
            refund(kept, hold, limit, hold.charge.permits(), now);
        } else if (kept.end > now && kept.end == hold.stamp) {
            kept.count = Math.max(0, kept.count - hold.charge.permits());
        }
    }

    private static void refund(NaiveLimiter.Kept kept, NaiveHolds.Hold hold, Limit limit, long permits, long now) {
        boolean counts = limit.spec().algorithm() == Algorithm.FIXED_WINDOW || kept.holds.isInLog(hold, now);
        if (permits > 0 && counts) {
            NaiveLimiter.refund(kept, hold.charge, limit, permits, hold.stamp, now);
        }
    }

    /** Decides as a backend does for a reservation. */
    public List<LimitOutcome> reserve(List<Charge> charges, HoldTerms terms, long now) {
        boolean allowed = true;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                allowed &= limiter.look(charge, limit, now).allowed() && waitForRoom(charge, limit, now) == 0;
            }
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            boolean denied = false;
            for (Limit limit : charge.policy().limits()) {
                if (limit.spec().algorithm() == Algorithm.BLOCK) {
                    if (denied) {
                        limiter.kept(charge, limit).block.settle(limit, now);
                        limiter.kept(charge, limit).block.count(limit, now);
                    }
                    outcomes.add(limiter.decide(charge, limit, Mode.TAKE, allowed, now));
                } else {
                    LimitOutcome outcome = allowed
                            ? hold(charge, limit, terms, now)
                            : orFull(limiter.decide(charge, limit, Mode.TAKE, false, now), now);
                    denied |= !outcome.allowed();
                    outcomes.add(outcome);
                }
            }
        }
        return outcomes;
    }

    private long waitForRoom(Charge charge, Limit limit, long now) {
        if (limit.spec().algorithm() == Algorithm.BLOCK || limit.permits() == 0) {
            return 0;
        }
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        // Before its record is forgotten.
        runOut(kept, limit, now);
        return kept.holds.waitForRoom(charge.policy().holds(), now);
    }

    private LimitOutcome orFull(LimitOutcome rest, long now) {
        long wait = waitForRoom(rest.charge(), rest.limit(), now);
        return wait == 0 || !rest.allowed() && rest.retryAfterMicros() < 0
                ? rest
                : LimitOutcome.of(
                        rest.charge(),
                        rest.limit(),
                        false,
                        rest.remaining(),
                        Math.max(wait, rest.retryAfterMicros()),
                        rest.nextMicros(),
                        rest.resetMicros(),
                        rest.allowed() ? LimitOutcome.HOLDS_FULL : 0);
    }

    private LimitOutcome hold(Charge charge, Limit limit, HoldTerms terms, long now) {
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        NaiveLimiter.settle(kept, limit, now);
        long end = kept.holds.end(terms, now);
        if (limit.spec().algorithm() == Algorithm.TOKEN_BUCKET) {
            kept.bucket.take(limit, 0, now);
        } else {
            NaiveLimiter.take(kept, charge, limit, now, now);
        }
        boolean isWindow = limit.spec().algorithm() == Algorithm.FIXED_WINDOW;
        kept.holds.add(new NaiveHolds.Hold(end, charge, limit, terms, isWindow ? kept.end : now, kept.holds.idle(now)));
        LimitOutcome after = limiter.look(new Charge(charge.policy(), charge.key(), 0), limit, now);
        return LimitOutcome.of(charge, limit, true, after.remaining(), 0, after.nextMicros(), after.resetMicros(), end);
    }

    /** Settles one outcome of a reservation. */
    public Backend.Settled settle(LimitOutcome outcome, String id, long cost, long now) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        if (limit.spec().algorithm() == Algorithm.BLOCK) {
            return new Backend.Settled(Settlement.SETTLED, 0);
        }
        NaiveLimiter.Kept kept = limiter.kept(charge, limit);
        NaiveHolds.Hold hold = kept.holds.find(outcome.stampMicros(), id, now);
        if (hold == null || hold.isSettled) {
            return new Backend.Settled(Settlement.ENDED, 0);
        }
        runOut(kept, limit, now);
        long n = charge.permits();
        boolean wasOpen = hold.isOpen(now);
        hold.isOver = true;
        hold.isSettled = true;
        kept.holds.keepAnew(hold, now);
        if (wasOpen) {
            end(kept, hold, limit, Math.min(n, cost), now);
        }
        long more = wasOpen ? Math.max(0, cost - n) : cost;
        long most = limit.spec().capacity();
        long owed = Math.min(Math.min(more, most), Math.max(0, 2 * most - used(kept, limit, now)));
        if (owed > 0) {
            NaiveLimiter.settle(kept, limit, now);
            NaiveLimiter.take(kept, new Charge(charge.policy(), charge.key(), owed), limit, now, now);
        }
        return new Backend.Settled(Settlement.SETTLED, more - owed);
    }

    private static void end(NaiveLimiter.Kept kept, NaiveHolds.Hold hold, Limit limit, long cost, long now) {
        long n = hold.charge.permits();
        if (limit.spec().algorithm() != Algorithm.TOKEN_BUCKET) {
            refund(kept, hold, limit, n - cost, now);
            return;
        }
        long counts = Math.min(cost, Math.max(0, 2 * limit.spec().burst() - used(kept, limit, now)));
        kept.holds.useIdle(kept.bucket.settle(limit, counts, kept.holds.idleSince(hold), now));
    }

    static long used(NaiveLimiter.Kept kept, Limit limit, long now) {
        return switch (limit.spec().algorithm()) {
            case FIXED_WINDOW -> kept.end > now ? kept.count : 0;
            case TOKEN_BUCKET -> kept.bucket.used(limit, kept.holds.held(limit, now), now);
            default ->
                kept.log.stream()
                        .filter(entry -> entry.stamp() > now - limit.spec().periodMicros())
                        .count();
        };
    }

    /** Whether permits of the charge's key are held. */
    public boolean areHeld(Charge charge, long now) {
        return charge.policy().limits().stream()
                .anyMatch(limit -> limiter.kept(charge, limit).holds.areOpen(now));
    }

    /** Whether the limits of the charge's key are those of its records: told times promise for unchanged limits only. */
    public boolean areUnchanged(Charge charge, long now) {
        return charge.policy().limits().stream()
                .allMatch(limit -> limiter.kept(charge, limit).holds.areAllOf(limit, now));
    }

    /** The permits of one limit that count now, with those that are held. */
    public long used(Charge charge, Limit limit, long now) {
        NaiveLimiter.Kept seen = NaiveLimiter.copy(limiter.kept(charge, limit));
        runOut(seen, limit, now);
        return used(seen, limit, now);
    }
}
