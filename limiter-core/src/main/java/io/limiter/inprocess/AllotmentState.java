package io.limiter.inprocess;

import io.limiter.AllotmentTerms;
import io.limiter.Charge;
import io.limiter.DenialReason;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A stock that members draw from between two times. The twin of allotment.lua. */
final class AllotmentState extends State {
    /** The memory of the objects of a purchase, as a number of timestamps of 8 bytes. */
    static final long STAMPS_A_PURCHASE = 48;

    private static final long SOLD_OUT = DenialReason.SOLD_OUT.ordinal();

    private enum Kind {
        /** It runs out. */
        HELD,
        SOLD,
        CONFIRMED
    }

    private record Purchase(String member, @Nullable String request, long permits, Kind kind) {}

    private final Capacity.@Nullable Share stamps;
    /** By timestamp, which is unique. */
    private final NavigableMap<Long, Purchase> purchases = new TreeMap<>();
    /** Purchases on hold, which expire. */
    private final NavigableMap<Long, Purchase> holds = new TreeMap<>();

    private final Map<String, Long> had = new HashMap<>();
    private final WallClock clock;
    private final Map<String, Long> stampOfRequest = new HashMap<>();
    private long sold;
    /** Of them on hold. */
    private long held;

    private long newest;
    /** The time from which nothing of it counts. */
    private long ends;

    private long fullAt;

    private boolean lacksMemory;

    /**
     * A stock that takes memory for its purchases from a share; without a share it is read-only. Without a key several
     * keys share it.
     */
    AllotmentState(@Nullable PartitionKey key, WallClock clock, Capacity.@Nullable Share stamps) {
        super(key);
        this.clock = clock;
        this.stamps = stamps;
    }

    @Override
    boolean lacksMemory() {
        return lacksMemory;
    }

    @Override
    long wanted(Charge charge, Limit limit, long now) {
        return repeated(charge, limit, now) > 0 ? 0 : charge.permits();
    }

    @Override
    boolean allows(Charge charge, Limit limit, long permits, long now, boolean take) {
        long reason = reason(charge, limit, permits, now);
        lacksMemory = take
                && reason == 0
                && charge.permits() > 0
                && stamps != null
                && !stamps.hasLeft(STAMPS_A_PURCHASE)
                && repeated(charge, limit, now) == 0;
        return reason == 0 && !lacksMemory;
    }

    /** The number of the reason for denying the charge, 0 for none. */
    private long reason(Charge charge, Limit limit, long permits, long now) {
        AllotmentTerms terms = AllotmentTerms.of(limit);
        long unixMicros = clock.unixMicros(now);
        long n = charge.permits();
        if (n == 0 || repeated(charge, limit, now) > 0) {
            return 0;
        }
        String member = member(charge);
        long has = isOver(now)
                ? 0
                : had.getOrDefault(member, 0L)
                        - runOut(limit, now).values().stream()
                                .filter(one -> one.member.equals(member))
                                .mapToLong(Purchase::permits)
                                .sum();
        DenialReason reason = n > limit.burst() || ofRequest(charge, limit, now) != null
                ? DenialReason.QUANTITY
                : unixMicros >= terms.closesMicros()
                        ? DenialReason.CLOSED
                        : has + n > limit.burst()
                                ? DenialReason.ALREADY_HAD
                                : sold(limit, now) + permits > limit.permits()
                                        ? DenialReason.SOLD_OUT
                                        : unixMicros < terms.opensMicros() ? DenialReason.NOT_OPEN : DenialReason.QUOTA;
        return reason.ordinal();
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long n = charge.permits();
        long reason = allowed ? 0 : Math.max(SOLD_OUT, reason(charge, limit, permits, now));
        long repeated = repeated(charge, limit, now);
        boolean buys = granted && n > 0 && repeated == 0;
        long stamp = buys ? nextStamp(limit, now) : repeated;
        if (take && n > 0) {
            settle(limit, now);
            if (buys) {
                add(charge, limit, stamp, now);
            }
        }
        // As if it were bought, without writing it.
        long more = buys && !take ? n : 0;
        boolean moreHeld = more > 0 && isHeld(limit);
        long soldThen = sold(limit, now) + more;
        long next = 0;
        long reset = 0;
        if (soldThen > 0) {
            NavigableMap<Long, Purchase> live = live(limit, now);
            long end = granted && n > 0 ? endThen(limit, now) : ends;
            long period = limit.periodMicros();
            long first = live.isEmpty() && moreHeld ? stamp : givesMore(live, soldThen - limit.permits());
            next = Math.min(end, first + period) - now;
            boolean comesBack = soldThen == held - runOutPermits(limit, now) + (moreHeld ? n : 0);
            reset = (comesBack ? Math.min(end, (moreHeld ? stamp : live.lastKey()) + period) : end) - now;
        }
        boolean waits = reason == DenialReason.NOT_OPEN.ordinal();
        long retryAfter = allowed
                ? 0
                : waits ? AllotmentTerms.of(limit).opensMicros() - clock.unixMicros(now) : LimitOutcome.NEVER;
        long remaining = Math.max(0, limit.permits() - soldThen);
        return new LimitOutcome(charge, limit, allowed, remaining, retryAfter, next, reset, allowed ? stamp : reason);
    }

    /**
     * The first hold that frees permits when it expires: the one after which no more than the stock, which may have
     * become smaller, is sold. Later than any time if there is none.
     */
    private static long givesMore(NavigableMap<Long, Purchase> live, long over) {
        long left = over;
        for (Map.Entry<Long, Purchase> hold : live.entrySet()) {
            left -= left > 0 ? hold.getValue().permits : 1;
            if (left < 0) {
                return hold.getKey();
            }
        }
        return TimeSource.MAX_MICROS;
    }

    private static boolean isHeld(Limit limit) {
        return limit.periodMicros() < Limit.MAX_PERIOD_MICROS;
    }

    private boolean isOver(long now) {
        return ends <= now;
    }

    private long endThen(Limit limit, long now) {
        long aheadMicros = clock.unixMicros(now) - now;
        long end = AllotmentTerms.of(limit).closesMicros() + AllotmentTerms.KEPT_MICROS - aheadMicros;
        return sold(limit, now) == 0 ? end : Math.max(ends, end);
    }

    private long nextStamp(Limit limit, long now) {
        return sold(limit, now) == 0 ? now : Math.max(now, newest + 1);
    }

    private NavigableMap<Long, Purchase> runOut(Limit limit, long now) {
        return holds.headMap(now - limit.periodMicros(), true);
    }

    private long runOutPermits(Limit limit, long now) {
        return runOut(limit, now).values().stream().mapToLong(Purchase::permits).sum();
    }

    private NavigableMap<Long, Purchase> live(Limit limit, long now) {
        return isOver(now) ? new TreeMap<>() : holds.tailMap(now - limit.periodMicros(), false);
    }

    private long sold(Limit limit, long now) {
        return isOver(now) ? 0 : sold - runOutPermits(limit, now);
    }

    /** The purchase with that timestamp, if it counts and belongs to the member. */
    private @Nullable Purchase purchase(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = isOver(now) || runOut(limit, now).containsKey(stamp) ? null : purchases.get(stamp);
        return one == null || !one.member.equals(member(charge)) ? null : one;
    }

    /** The purchase with the request id of the charge, which may be one of another quantity. */
    private @Nullable Purchase ofRequest(Charge charge, Limit limit, long now) {
        Long stamp = charge.permits() == 0 ? null : stampOfRequest.get(request(charge));
        return stamp == null ? null : purchase(charge, limit, stamp, now);
    }

    /** The timestamp of the purchase that the charge repeats; 0 if it repeats none. */
    private long repeated(Charge charge, Limit limit, long now) {
        Purchase one = ofRequest(charge, limit, now);
        return one == null || one.permits != charge.permits() ? 0 : stampOfRequest.getOrDefault(request(charge), 0L);
    }

    private void add(Charge charge, Limit limit, long stamp, long now) {
        if (isOver(now)) {
            clear();
        }
        if (stamps != null) {
            stamps.change(STAMPS_A_PURCHASE);
        }
        String member = member(charge);
        Kind kind = isHeld(limit) ? Kind.HELD : Kind.SOLD;
        Purchase one = new Purchase(member, request(charge), charge.permits(), kind);
        purchases.put(stamp, one);
        if (kind == Kind.HELD) {
            holds.put(stamp, one);
            held += one.permits;
        }
        if (one.request != null) {
            stampOfRequest.put(one.request, stamp);
        }
        had.merge(member, one.permits, Long::sum);
        sold += one.permits;
        newest = stamp;
        keepAsLong(limit, now);
    }

    /**
     * Removes expired holds, and keeps the rest as long as the current terms require. A stock that is over is left as it
     * is: it counts again if the clock steps back, whether it was asked for in between or not.
     */
    private void settle(Limit limit, long now) {
        if (isOver(now)) {
            return;
        }
        List.copyOf(runOut(limit, now).keySet()).forEach(this::remove);
        keepAsLong(limit, now);
    }

    private void keepAsLong(Limit limit, long now) {
        ends = sold > 0 ? endThen(limit, now) : 0;
        fullAt = held > 0 && held == sold ? Math.min(ends, holds.lastKey() + limit.periodMicros()) : ends;
    }

    private void release(long stamp) {
        Purchase one = holds.remove(stamp);
        held -= one == null ? 0 : one.permits;
    }

    private void remove(long stamp) {
        Purchase one = purchases.remove(stamp);
        if (one != null) {
            release(stamp);
            stampOfRequest.remove(one.request);
            had.computeIfPresent(one.member, (member, has) -> has == one.permits ? null : has - one.permits);
            sold -= one.permits;
            if (stamps != null) {
                stamps.change(-STAMPS_A_PURCHASE);
            }
        }
        if (sold == 0) {
            clear();
        }
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null || one.kind == Kind.CONFIRMED) {
            return false;
        }
        remove(stamp);
        if (sold > 0) {
            settle(limit, now);
        }
        return true;
    }

    @Override
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null) {
            return false;
        }
        release(stamp);
        purchases.put(stamp, new Purchase(one.member, one.request, one.permits, Kind.CONFIRMED));
        settle(limit, now);
        return true;
    }

    @Override
    void clear() {
        if (stamps != null) {
            stamps.change(-STAMPS_A_PURCHASE * purchases.size());
        }
        purchases.clear();
        holds.clear();
        had.clear();
        stampOfRequest.clear();
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

    /** The member as it is stored: with the key, if keys share a stock. */
    private String member(Charge charge) {
        String member = charge.member() == null ? "" : charge.member().canonical();
        return key != null
                ? member
                : charge.policy().name() + " " + charge.key().canonical() + " " + member;
    }

    private @Nullable String request(Charge charge) {
        // No member has a space in it.
        return charge.requestId() == null ? null : member(charge) + " " + charge.requestId();
    }
}
