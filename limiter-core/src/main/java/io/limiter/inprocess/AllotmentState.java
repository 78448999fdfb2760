package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.DenialReason;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.internal.AllotmentTerms;
import io.limiter.internal.LimitSpec;
import java.util.HashMap;
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
        final String member;
        final @Nullable String request;
        final long permits;
        /** Those on hold that are not forgotten; 0 if it never runs out. */
        long held;

        boolean isConfirmed;

        Purchase(String member, @Nullable String request, long permits, boolean isHeld) {
            this.member = member;
            this.request = request;
            this.permits = permits;
            this.held = isHeld ? permits : 0;
        }
    }

    private final WallClock clock;
    private final Capacity.Share stamps;
    /** By timestamp, which is unique. */
    private Map<Long, Purchase> purchases = new HashMap<>();
    /** Those with permits on hold, some of which may have run out. The first may be forgotten in part, and be no purchase any more. */
    private TreeMap<Long, Purchase> onHold = new TreeMap<>();

    private Map<String, Long> stampOfRequest = new HashMap<>();
    private Map<String, Long> soldTo = new HashMap<>();
    /** With those that have run out and are not forgotten, as are those of each member. */
    private long sold;
    /** Of these, on hold. */
    private long held;

    private long newest;
    /** The time from which nothing of it counts. */
    private long ends;

    private long fullAt;

    /**
     * A stock that takes memory for its purchases from a share. Without a key several
     * keys share it.
     */
    AllotmentState(@Nullable PartitionKey key, WallClock clock, Capacity.Share stamps) {
        super(key);
        this.clock = clock;
        this.stamps = stamps;
    }

    @Override
    long wanted(Charge charge, Limit limit, long now) {
        return repeated(charge, limit, now) > 0 ? 0 : charge.permits();
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        long reason = reason(charge, limit, permits, now);
        boolean grows = take && reason == 0 && charge.permits() > 0 && repeated(charge, limit, now) == 0;
        return grows && !stamps.hasLeft(STAMPS_A_PURCHASE) ? Verdict.LACKS_MEMORY : Verdict.of(reason == 0);
    }

    /** The number of the reason for denying the charge, 0 for none. */
    private long reason(Charge charge, Limit limit, long permits, long now) {
        AllotmentTerms terms = AllotmentTerms.of(limit.spec());
        long unixMicros = clock.unixMicros(now);
        long n = charge.permits();
        if (n == 0 || repeated(charge, limit, now) > 0) {
            return 0;
        }
        String member = member(charge);
        long has = isOver(now) ? 0 : soldTo.getOrDefault(member, 0L) - runOut(member, limit, now);
        DenialReason reason = n > limit.spec().burst() || known(charge, limit, now) > 0
                ? DenialReason.QUANTITY
                : unixMicros >= terms.closesMicros()
                        ? DenialReason.CLOSED
                        : has + n > limit.spec().burst()
                                ? DenialReason.ALREADY_HAD
                                : sold(limit, now) + permits > limit.permits()
                                        ? DenialReason.SOLD_OUT
                                        : unixMicros < terms.opensMicros() ? DenialReason.NOT_OPEN : DenialReason.QUOTA;
        return reason.number();
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long n = charge.permits();
        long reason = allowed ? 0 : Math.max(SOLD_OUT, reason(charge, limit, permits, now));
        long repeated = repeated(charge, limit, now);
        boolean buys = granted && n > 0 && repeated == 0;
        long stamp = buys ? (sold(limit, now) == 0 ? now : Math.max(now, newest + 1)) : repeated;
        if (take && n > 0) {
            settle(limit, now);
            if (buys) {
                add(charge, limit, stamp, now);
            }
        }
        // As if it were bought, without writing it.
        long more = buys && !take ? n : 0;
        long moreHeld = isHeld(limit) ? more : 0;
        long soldThen = sold(limit, now) + more;
        long next = 0;
        long reset = 0;
        if (soldThen > 0) {
            long others = isOver(now) ? 0 : held - runOut(null, limit, now);
            long heldThen = others + moreHeld;
            long end = granted && n > 0 ? endThen(limit, now) : ends;
            long period = limit.spec().periodMicros();
            // One that runs out gives more only when no more than the stock is sold then, which may have been made
            // smaller.
            long over = Math.max(0, soldThen - limit.permits());
            long first = others > over ? heldAfter(over, limit, now) : stamp;
            next = (heldThen > over ? Math.min(end, first + period) : end) - now;
            long last = moreHeld > 0 || others == 0 ? stamp : onHold.lastKey();
            reset = (heldThen == soldThen ? Math.min(end, last + period) : end) - now;
        }
        boolean waits = reason == DenialReason.NOT_OPEN.number();
        long retryAfter = allowed
                ? 0
                : waits ? AllotmentTerms.of(limit.spec()).opensMicros() - clock.unixMicros(now) : LimitOutcome.NEVER;
        long remaining = Math.max(0, limit.permits() - soldThen);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, next, reset, allowed ? stamp : reason);
    }

    private static boolean isHeld(Limit limit) {
        return limit.spec().periodMicros() < LimitSpec.MAX_PERIOD_MICROS;
    }

    private boolean isOver(long now) {
        return ends <= now;
    }

    private long endThen(Limit limit, long now) {
        long aheadMicros = clock.unixMicros(now) - now;
        long end = AllotmentTerms.of(limit.spec()).closesMicros() + AllotmentTerms.KEPT_MICROS - aheadMicros;
        return sold(limit, now) == 0 ? end : Math.max(ends, end);
    }

    /** The permits that have run out and are not forgotten: of one member, or of all. */
    private long runOut(@Nullable String member, Limit limit, long now) {
        long sum = 0;
        for (Purchase one :
                onHold.headMap(now - limit.spec().periodMicros(), true).values()) {
            sum += member == null || member.equals(one.member) ? one.held : 0;
        }
        return sum;
    }

    /** The timestamp of the permit on hold, and not run out, after so many others. */
    private long heldAfter(long others, Limit limit, long now) {
        long left = others;
        for (Map.Entry<Long, Purchase> one :
                onHold.tailMap(now - limit.spec().periodMicros(), false).entrySet()) {
            left -= one.getValue().held;
            if (left < 0) {
                return one.getKey();
            }
        }
        return newest;
    }

    private long sold(Limit limit, long now) {
        return isOver(now) ? 0 : sold - runOut(null, limit, now);
    }

    /** The purchase with that timestamp, if it counts and belongs to the member. */
    private @Nullable Purchase purchase(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = isOver(now) ? null : purchases.get(stamp);
        if (one == null || one.held > 0 && stamp <= now - limit.spec().periodMicros()) {
            return null;
        }
        return one.member.equals(member(charge)) ? one : null;
    }

    /** The timestamp of the purchase with the request id of the charge, which may be one of another quantity; 0 for none. */
    private long known(Charge charge, Limit limit, long now) {
        Long stamp = charge.permits() == 0 ? null : stampOfRequest.get(request(charge));
        return stamp == null || purchase(charge, limit, stamp, now) == null ? 0 : stamp;
    }

    /** The timestamp of the purchase that the charge repeats; 0 if it repeats none. */
    private long repeated(Charge charge, Limit limit, long now) {
        long stamp = known(charge, limit, now);
        Purchase one = purchases.get(stamp);
        return one != null && one.permits == charge.permits() ? stamp : 0;
    }

    private void add(Charge charge, Limit limit, long stamp, long now) {
        if (isOver(now)) {
            clear();
        }
        stamps.change(STAMPS_A_PURCHASE);
        Purchase one = new Purchase(member(charge), request(charge), charge.permits(), isHeld(limit));
        purchases.put(stamp, one);
        if (one.held > 0) {
            onHold.put(stamp, one);
            held += one.held;
        }
        if (one.request != null) {
            stampOfRequest.put(one.request, stamp);
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
        if (sold(limit, now) == 0) {
            clear();
            return;
        }
        long time = now - limit.spec().periodMicros();
        long left = PORTION;
        Map.Entry<Long, Purchase> oldest = onHold.firstEntry();
        while (left > 0 && oldest != null && oldest.getKey() <= time) {
            long gone = Math.min(left, oldest.getValue().held);
            left -= gone;
            forget(oldest.getKey(), oldest.getValue());
            sell(oldest.getValue(), -gone);
            release(oldest.getKey(), oldest.getValue(), gone);
            oldest = onHold.firstEntry();
        }
        keepAsLong(limit, now);
    }

    private void keepAsLong(Limit limit, long now) {
        ends = endThen(limit, now);
        fullAt = held == sold ? Math.min(ends, onHold.lastKey() + limit.spec().periodMicros()) : ends;
    }

    /** So many of its permits are on hold no more. */
    private void release(long stamp, Purchase one, long permits) {
        held -= permits;
        one.held -= permits;
        if (one.held == 0) {
            onHold.remove(stamp);
        }
    }

    /** It is known no more, neither by its timestamp nor by its request id. */
    private void forget(long stamp, Purchase one) {
        if (purchases.remove(stamp) != null) {
            stamps.change(-STAMPS_A_PURCHASE);
        }
        if (one.request != null) {
            // The id may have come again after the hold had run out.
            stampOfRequest.remove(one.request, stamp);
        }
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null || one.isConfirmed) {
            return false;
        }
        forget(stamp, one);
        release(stamp, one, one.held);
        sell(one, -one.permits);
        settle(limit, now);
        return true;
    }

    @Override
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null) {
            return false;
        }
        one.isConfirmed = true;
        release(stamp, one, one.held);
        settle(limit, now);
        return true;
    }

    @Override
    void clear() {
        stamps.change(-STAMPS_A_PURCHASE * purchases.size());
        // To clear a map takes as long as it was ever large.
        purchases = new HashMap<>();
        onHold = new TreeMap<>();
        stampOfRequest = new HashMap<>();
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
