package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A stock that members draw from between two times. The twin of allotment.lua. */
final class AllotmentState extends State {
    /** The memory of the objects of a purchase with the longest texts that are kept, as a number of timestamps of 8 bytes. */
    static final long STAMPS_A_PURCHASE = 96;

    /** How many permits that have run out one call forgets, at most. */
    private static final int PORTION = 50;

    private static final long SOLD_OUT = DenialReason.SOLD_OUT.number();

    private static final class Purchase {
        /** Unique. */
        final long stamp;

        final String member;
        final @Nullable String request;
        final long permits;
        /** Those on hold that are not forgotten; 0 if it never runs out. */
        long held;

        boolean isConfirmed;

        Purchase(long stamp, String member, @Nullable String request, long permits, boolean isHeld) {
            this.stamp = stamp;
            this.member = member;
            this.request = request;
            this.permits = permits;
            this.held = isHeld ? permits : 0;
        }
    }

    private final WallClock clock;
    private final Capacity.Share stamps;
    /** By timestamp. */
    private Map<Long, Purchase> purchases = new HashMap<>();
    /** Those with permits on hold, some of which may have run out. The first may be forgotten in part, and be no purchase any more. */
    private TreeMap<Long, Purchase> holds = new TreeMap<>();

    private Map<String, Purchase> byRequest = new HashMap<>();
    /** What was bought on hold until then has run out, and is not in the numbers that follow. */
    private long runOutUntil = Long.MIN_VALUE;

    private Map<String, Long> soldTo = new HashMap<>();
    private long sold;
    /** Of these, on hold. */
    private long held;

    private long newest;
    /** The time from which nothing of it counts. */
    private long ends;

    private long fullAt;

    /** A stock that takes memory for its purchases from a share. */
    AllotmentState(PartitionKey key, WallClock clock, Capacity.Share stamps) {
        super(key);
        this.clock = clock;
        this.stamps = stamps;
    }

    @Override
    long wanted(Charge charge, Limit limit, long now) {
        count(limit, now);
        return repeated(charge, now) > 0 ? 0 : charge.permits();
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        count(limit, now);
        long reason = reason(charge, limit, permits, now);
        boolean grows = take && reason == 0 && charge.permits() > 0 && repeated(charge, now) == 0;
        return grows && !stamps.hasLeft(STAMPS_A_PURCHASE) ? Verdict.LACKS_MEMORY : Verdict.of(reason == 0);
    }

    /** The number of the reason for denying the charge, 0 for none. */
    private long reason(Charge charge, Limit limit, long permits, long now) {
        long unixMicros = clock.unixMicros(now);
        long n = charge.permits();
        if (n == 0 || repeated(charge, now) > 0) {
            return 0;
        }
        long has = isOver(now) ? 0 : soldTo.getOrDefault(member(charge), 0L);
        DenialReason reason = n > limit.burst() || known(charge, now) != null
                ? DenialReason.QUANTITY
                : unixMicros >= limit.untilMicros()
                        ? DenialReason.CLOSED
                        : has + n > limit.burst()
                                ? DenialReason.ALREADY_HAD
                                : sold(now) + permits > limit.permits()
                                        ? DenialReason.SOLD_OUT
                                        : unixMicros < limit.fromMicros() ? DenialReason.NOT_OPEN : DenialReason.QUOTA;
        return reason.number();
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        count(limit, now);
        long n = charge.permits();
        long reason = allowed ? 0 : Math.max(SOLD_OUT, reason(charge, limit, permits, now));
        long repeated = repeated(charge, now);
        boolean buys = granted && n > 0 && repeated == 0;
        long stamp = buys ? (sold(now) == 0 ? now : Math.max(now, newest + 1)) : repeated;
        if (take && n > 0) {
            settle(limit, now);
            if (buys) {
                add(charge, limit, stamp, now);
            }
        }
        // As if it were bought, without writing it.
        long more = buys && !take ? n : 0;
        long moreHeld = isHeld(limit) ? more : 0;
        long soldThen = sold(now) + more;
        long next = 0;
        long reset = 0;
        if (soldThen > 0) {
            long others = isOver(now) ? 0 : held;
            long heldThen = others + moreHeld;
            long end = granted && n > 0 ? endThen(limit, now) : ends;
            long period = limit.periodMicros();
            // One that runs out gives more only when no more than the stock is sold then, which may have been made
            // smaller.
            long over = Math.max(0, soldThen - limit.permits());
            long first = others > over ? heldAfter(over) : stamp;
            next = (heldThen > over ? Math.min(end, first + period) : end) - now;
            long last = moreHeld > 0 || others == 0 ? stamp : holds.lastKey();
            reset = (heldThen == soldThen ? Math.min(end, last + period) : end) - now;
        }
        boolean waits = reason == DenialReason.NOT_OPEN.number();
        long retryAfter = allowed ? 0 : waits ? limit.fromMicros() - clock.unixMicros(now) : LimitOutcome.NEVER;
        long remaining = Math.max(0, limit.permits() - soldThen);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, next, reset, allowed ? stamp : reason);
    }

    private static boolean isHeld(Limit limit) {
        return limit.periodMicros() < Limit.MAX_PERIOD_MICROS;
    }

    private boolean isOver(long now) {
        return ends <= now;
    }

    private long endThen(Limit limit, long now) {
        long aheadMicros = clock.unixMicros(now) - now;
        long end = limit.untilMicros() + Limit.KEPT_MICROS - aheadMicros;
        return sold(now) == 0 ? end : Math.max(ends, end);
    }

    /** Takes what has run out since the last call out of the numbers; or in again, if the clock stepped back or a hold lasts longer. */
    private void count(Limit limit, long now) {
        long until = now - limit.periodMicros();
        boolean isLater = until > runOutUntil;
        var passed =
                isLater ? holds.subMap(runOutUntil, false, until, true) : holds.subMap(until, false, runOutUntil, true);
        for (Purchase one : passed.values()) {
            long permits = isLater ? -one.held : one.held;
            held += permits;
            sell(one, permits);
        }
        runOutUntil = until;
    }

    /** The timestamp of the permit on hold, and not run out, after so many others. */
    private long heldAfter(long others) {
        long left = others;
        for (Purchase one : holds.tailMap(runOutUntil, false).values()) {
            left -= one.held;
            if (left < 0) {
                return one.stamp;
            }
        }
        return newest;
    }

    private long sold(long now) {
        return isOver(now) ? 0 : sold;
    }

    /** It, if it counts. */
    private @Nullable Purchase counted(@Nullable Purchase one, long now) {
        return one == null || isOver(now) || one.held > 0 && one.stamp <= runOutUntil ? null : one;
    }

    /** The purchase with the request id of the charge, which may be one of another quantity. */
    private @Nullable Purchase known(Charge charge, long now) {
        return charge.permits() == 0 ? null : counted(byRequest.get(request(charge)), now);
    }

    /** The timestamp of the purchase that the charge repeats; 0 if it repeats none. */
    private long repeated(Charge charge, long now) {
        Purchase one = known(charge, now);
        return one == null || one.permits != charge.permits() ? 0 : one.stamp;
    }

    /** The purchase of the charge's member with that timestamp, if it counts. */
    private @Nullable Purchase purchase(Charge charge, long stamp, long now) {
        Purchase one = counted(purchases.get(stamp), now);
        return one == null || !one.member.equals(member(charge)) ? null : one;
    }

    private void add(Charge charge, Limit limit, long stamp, long now) {
        if (isOver(now)) {
            clear();
        }
        stamps.change(STAMPS_A_PURCHASE);
        Purchase one = new Purchase(stamp, member(charge), request(charge), charge.permits(), isHeld(limit));
        purchases.put(stamp, one);
        if (one.held > 0) {
            holds.put(stamp, one);
            held += one.held;
        }
        if (one.request != null) {
            byRequest.put(one.request, one);
        }
        sell(one, one.permits);
        newest = stamp;
        keepAsLong(limit, now);
    }

    private void sell(Purchase one, long permits) {
        sold += permits;
        soldTo.merge(one.member, permits, (had, more) -> had + more == 0 ? null : had + more);
    }

    /**
     * Forgets a portion of what has run out, the oldest first, and keeps the rest as long as the current terms require. A stock
     * that is over is left as it is: it counts again if the clock steps back, whether it was asked for in between or not.
     */
    private void settle(Limit limit, long now) {
        if (isOver(now)) {
            return;
        }
        if (sold(now) == 0) {
            clear();
            return;
        }
        Iterator<Purchase> runOut = holds.headMap(runOutUntil, true).values().iterator();
        for (long left = PORTION; left > 0 && runOut.hasNext(); ) {
            Purchase one = runOut.next();
            forget(one);
            if (one.held > left) {
                one.held -= left;
                break;
            }
            left -= one.held;
            runOut.remove();
        }
        keepAsLong(limit, now);
    }

    private void keepAsLong(Limit limit, long now) {
        ends = endThen(limit, now);
        fullAt = held == sold ? Math.min(ends, holds.lastKey() + limit.periodMicros()) : ends;
    }

    private void release(Purchase one) {
        held -= one.held;
        one.held = 0;
        holds.remove(one.stamp);
    }

    /** It is known no more, neither by its timestamp nor by its request id. */
    private void forget(Purchase one) {
        if (purchases.remove(one.stamp) != null) {
            stamps.change(-STAMPS_A_PURCHASE);
        }
        // The id may have come again after the hold had run out.
        byRequest.remove(one.request, one);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        count(limit, now);
        Purchase one = purchase(charge, stamp, now);
        if (one == null || one.isConfirmed) {
            return false;
        }
        forget(one);
        release(one);
        sell(one, -one.permits);
        settle(limit, now);
        return true;
    }

    @Override
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        count(limit, now);
        Purchase one = purchase(charge, stamp, now);
        if (one == null) {
            return false;
        }
        one.isConfirmed = true;
        release(one);
        settle(limit, now);
        return true;
    }

    @Override
    void clear() {
        stamps.change(-STAMPS_A_PURCHASE * purchases.size());
        // To clear a map takes as long as it was ever large.
        purchases = new HashMap<>();
        holds = new TreeMap<>();
        byRequest = new HashMap<>();
        soldTo = new HashMap<>();
        sold = 0;
        held = 0;
        newest = 0;
        ends = 0;
        fullAt = 0;
    }

    @Override
    long fullAtMicros() {
        return fullAt;
    }

    private String member(Charge charge) {
        return owned(charge, charge.memberText());
    }

    private @Nullable String request(Charge charge) {
        String id = idText(charge);
        // No member has a space in it.
        return id == null ? null : member(charge) + " " + id;
    }
}
