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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A stock that members draw from between two times. The twin of allotment.lua. */
final class AllotmentState extends State {
    /** The memory of the objects of a purchase with the longest texts that are kept, as a number of timestamps of 8 bytes. */
    static final long STAMPS_A_PURCHASE = 96;

    /** How many holds that have run out one call settles. */
    private static final int MOST_SETTLED = 20;

    private static final long SOLD_OUT = DenialReason.SOLD_OUT.number();

    private enum Kind {
        /** It runs out. */
        HELD,
        SOLD,
        CONFIRMED
    }

    private record Purchase(String member, @Nullable String request, long permits, Kind kind) {}

    private static final class Member {
        long has;
        final Holds holds = new Holds();
    }

    private final Capacity.Share stamps;
    /** By timestamp, which is unique. */
    private Map<Long, Purchase> purchases = new HashMap<>();

    private Map<String, Member> members = new HashMap<>();
    private Map<String, Long> stampOfRequest = new HashMap<>();
    /** Purchases on hold, some of which may have run out. */
    private Holds holds = new Holds();

    private final WallClock clock;
    /** With those that have run out and are not settled. */
    private long sold;

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
        Member member = isOver(now) ? null : members.get(member(charge));
        long has = member == null
                ? 0
                : member.has - member.holds.until(now - limit.spec().periodMicros());
        DenialReason reason = n > limit.spec().burst() || ofRequest(charge, limit, now) != null
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
            long gone = gone(limit, now);
            long held = isOver(now) ? 0 : holds.total() - gone;
            long end = granted && n > 0 ? endThen(limit, now) : ends;
            long period = limit.spec().periodMicros();
            // One that runs out gives more only when no more than the stock is sold then, which may have been made
            // smaller.
            long first = held > 0 ? holds.beyond(gone + Math.max(0, soldThen - limit.permits())) : stamp;
            next = (held > 0 || moreHeld ? Math.min(end, first + period) : end) - now;
            boolean comesBack = soldThen == held + (moreHeld ? n : 0);
            reset = (comesBack ? Math.min(end, (moreHeld ? stamp : holds.beyond(holds.total() - 1)) + period) : end)
                    - now;
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

    private long nextStamp(Limit limit, long now) {
        return sold(limit, now) == 0 ? now : Math.max(now, newest + 1);
    }

    /** The permits on hold that have run out and are not settled. */
    private long gone(Limit limit, long now) {
        return isOver(now) ? 0 : holds.until(now - limit.spec().periodMicros());
    }

    private long sold(Limit limit, long now) {
        return isOver(now) ? 0 : sold - gone(limit, now);
    }

    /** The purchase with that timestamp, if it counts and belongs to the member. */
    private @Nullable Purchase purchase(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = isOver(now) ? null : purchases.get(stamp);
        if (one == null || one.kind == Kind.HELD && stamp <= now - limit.spec().periodMicros()) {
            return null;
        }
        return one.member.equals(member(charge)) ? one : null;
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
        stamps.change(STAMPS_A_PURCHASE);
        String member = member(charge);
        Kind kind = isHeld(limit) ? Kind.HELD : Kind.SOLD;
        Purchase one = new Purchase(member, request(charge), charge.permits(), kind);
        purchases.put(stamp, one);
        Member owner = members.computeIfAbsent(member, any -> new Member());
        owner.has += one.permits;
        if (kind == Kind.HELD) {
            holds.add(stamp, one.permits);
            owner.holds.add(stamp, one.permits);
        }
        if (one.request != null) {
            stampOfRequest.put(one.request, stamp);
        }
        sold += one.permits;
        newest = stamp;
        keepAsLong(limit, now);
    }

    /**
     * Removes some of the expired holds, and keeps the rest as long as the current terms require. A stock that is over is left
     * as it is: it counts again if the clock steps back, whether it was asked for in between or not.
     */
    private void settle(Limit limit, long now) {
        if (isOver(now)) {
            return;
        }
        if (sold(limit, now) == 0) {
            clear();
            return;
        }
        for (int i = 0;
                i < MOST_SETTLED && holds.beyond(0) <= now - limit.spec().periodMicros();
                i++) {
            remove(holds.beyond(0));
        }
        keepAsLong(limit, now);
    }

    private void keepAsLong(Limit limit, long now) {
        ends = endThen(limit, now);
        boolean comesBack = holds.total() == sold;
        fullAt =
                comesBack ? Math.min(ends, holds.beyond(sold - 1) + limit.spec().periodMicros()) : ends;
    }

    private void release(Purchase one, long stamp) {
        holds.remove(stamp);
        Objects.requireNonNull(members.get(one.member)).holds.remove(stamp);
    }

    private void remove(long stamp) {
        Purchase one = Objects.requireNonNull(purchases.remove(stamp));
        release(one, stamp);
        if (one.request != null) {
            // The id may have come again after the hold had run out.
            stampOfRequest.remove(one.request, stamp);
        }
        Member owner = Objects.requireNonNull(members.get(one.member));
        owner.has -= one.permits;
        if (owner.has == 0) {
            members.remove(one.member);
        }
        sold -= one.permits;
        stamps.change(-STAMPS_A_PURCHASE);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null || one.kind == Kind.CONFIRMED) {
            return false;
        }
        remove(stamp);
        settle(limit, now);
        return true;
    }

    @Override
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        Purchase one = purchase(charge, limit, stamp, now);
        if (one == null) {
            return false;
        }
        release(one, stamp);
        purchases.put(stamp, new Purchase(one.member, one.request, one.permits, Kind.CONFIRMED));
        settle(limit, now);
        return true;
    }

    @Override
    void clear() {
        stamps.change(-STAMPS_A_PURCHASE * purchases.size());
        // To clear a map takes as long as it was ever large.
        purchases = new HashMap<>();
        members = new HashMap<>();
        stampOfRequest = new HashMap<>();
        holds = new Holds();
        sold = 0;
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
