package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a stock means, from the rules alone: a list of purchases that is searched each time. */
final class NaiveStock {
    private static final long DAY = 86_400_000_000L;
    /** How many permits that have run out one call forgets. Others count again if the clock steps back. */
    private static final int PORTION = 50;

    private enum Kind {
        HELD,
        SOLD,
        CONFIRMED,
        /** Permits of a purchase of which others are forgotten: it is known no more. */
        REST
    }

    private record Purchase(String member, @Nullable String request, long permits, long stamp, Kind kind) {
        boolean counts(Limit limit, long now) {
            return !isHeld() || stamp > now - limit.periodMicros();
        }

        boolean isHeld() {
            return kind == Kind.HELD || kind == Kind.REST;
        }

        Purchase without(long gone) {
            return new Purchase(member, null, permits - gone, stamp, Kind.REST);
        }

        Purchase confirmed() {
            return new Purchase(member, request, permits, stamp, Kind.CONFIRMED);
        }
    }

    private List<Purchase> purchases = new ArrayList<>();
    /** Each purchase has a later one than that before it, whatever the clock does. */
    private long newest;
    /** When all is forgotten. */
    private long ends;

    NaiveStock copy() {
        NaiveStock copy = new NaiveStock();
        copy.purchases = new ArrayList<>(purchases);
        copy.newest = newest;
        copy.ends = ends;
        return copy;
    }

    private List<Purchase> live(Limit limit, long now) {
        return ends <= now
                ? List.of()
                : purchases.stream().filter(one -> one.counts(limit, now)).toList();
    }

    private static long sum(List<Purchase> some) {
        return some.stream().mapToLong(Purchase::permits).sum();
    }

    private static String member(Charge charge) {
        return String.valueOf(charge.member());
    }

    private @Nullable Purchase known(Charge charge, Limit limit, long now) {
        Purchase one = ofRequest(charge, limit, now);
        return one != null && one.permits == charge.permits() ? one : null;
    }

    private @Nullable Purchase ofRequest(Charge charge, Limit limit, long now) {
        if (charge.permits() == 0 || charge.requestId() == null) {
            return null;
        }
        String member = member(charge);
        return live(limit, now).stream()
                .filter(one -> charge.requestId().equals(one.request) && one.member.equals(member))
                // An id may come again after its hold has run out, and both count again if the clock steps back.
                .reduce((earlier, later) -> later)
                .orElse(null);
    }

    /** The timestamp of what the charge takes, or took before. */
    long stamp(Charge charge, Limit limit, long now) {
        Purchase known = known(charge, limit, now);
        if (known != null) {
            return known.stamp;
        }
        return live(limit, now).isEmpty() ? now : Math.max(now, newest + 1);
    }

    LimitOutcome look(Charge charge, Limit limit, long now) {
        List<Purchase> live = live(limit, now);
        long n = charge.permits();
        long sold = sum(live);
        String member = member(charge);
        long had = sum(live.stream().filter(one -> one.member.equals(member)).toList());
        Purchase known = known(charge, limit, now);
        int reason = 0;
        if (n == 0 || known != null) {
            reason = 0;
        } else if (n > limit.burst() || ofRequest(charge, limit, now) != null) {
            reason = 5;
        } else if (now >= limit.untilMicros()) {
            reason = 4;
        } else if (had + n > limit.burst()) {
            reason = 2;
        } else if (sold + n > limit.permits()) {
            reason = 1;
        } else if (now < limit.fromMicros()) {
            reason = 3;
        }
        long stamp = reason != 0 ? reason : known != null ? known.stamp : 0;
        long end = ends;
        long next = 0;
        long reset = 0;
        if (sold > 0) {
            // What is left at each end of a hold, in turn.
            next = end;
            reset = end;
            int holders = live.size();
            long left = sold;
            for (Purchase one : live) {
                long at = one.stamp + limit.periodMicros();
                if (one.isHeld() && at < end) {
                    holders--;
                    left -= one.permits;
                    if (next == end && left < limit.permits() && left < sold) {
                        next = at;
                    }
                    if (holders == 0) {
                        reset = at;
                    }
                }
            }
            next -= now;
            reset -= now;
        }
        long retry = reason == 0 ? 0 : reason == 3 ? limit.fromMicros() - now : -1;
        return LimitOutcome.of(
                charge, limit, reason == 0, Math.max(0, limit.permits() - sold), retry, next, reset, stamp);
    }

    /** A stock that is over stays what it was, and counts again if the clock steps back. */
    void settle(Limit limit, long now) {
        if (ends <= now) {
            return;
        }
        boolean isEmpty = live(limit, now).isEmpty();
        if (isEmpty) {
            purchases = new ArrayList<>();
        }
        long left = PORTION;
        for (Purchase one : List.copyOf(purchases)) {
            if (left > 0 && !one.counts(limit, now)) {
                long gone = Math.min(left, one.permits);
                left -= gone;
                purchases.set(purchases.indexOf(one), one.without(gone));
            }
        }
        purchases.removeIf(one -> one.permits == 0);
        ends = isEmpty ? 0 : Math.max(ends, limit.untilMicros() + DAY);
    }

    void take(Charge charge, Limit limit, long stamp, long now) {
        if (known(charge, limit, now) != null) {
            return;
        }
        if (ends <= now) {
            purchases = new ArrayList<>();
            ends = 0;
        }
        Kind kind = limit.periodMicros() < Limit.MAX_PERIOD_MICROS ? Kind.HELD : Kind.SOLD;
        purchases.add(new Purchase(member(charge), charge.requestId(), charge.permits(), stamp, kind));
        newest = stamp;
        ends = Math.max(ends, limit.untilMicros() + DAY);
    }

    private @Nullable Purchase of(LimitOutcome outcome, long now) {
        String member = member(outcome.charge());
        return live(outcome.limit(), now).stream()
                .filter(one -> one.stamp == outcome.stampMicros() && one.member.equals(member) && one.kind != Kind.REST)
                .findFirst()
                .orElse(null);
    }

    boolean refund(LimitOutcome outcome, long now) {
        Purchase one = of(outcome, now);
        if (one == null || one.kind == Kind.CONFIRMED) {
            return false;
        }
        purchases.remove(one);
        settle(outcome.limit(), now);
        return true;
    }

    boolean confirm(LimitOutcome outcome, long now) {
        Purchase one = of(outcome, now);
        if (one == null) {
            return false;
        }
        purchases.set(purchases.indexOf(one), one.confirmed());
        settle(outcome.limit(), now);
        return true;
    }
}
