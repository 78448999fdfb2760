package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.util.HashMap;
import java.util.Map;

/**
 * The members of a window that starts with the first one and ends one period later. The twin of distinct.lua.
 *
 * <p>When the table's {@link Capacity} is used up, new members are denied early rather than a known one forgotten.
 */
final class DistinctState extends State {
    /** The memory of a member, as a number of timestamps: a text of up to 128 characters, its time, and their map. */
    static final long STAMPS_A_MEMBER = 30;

    private final Capacity.Share stamps;
    /** When each member was added; negative when it was used again since. */
    private final Map<String, Long> members = new HashMap<>(4);

    private long end;

    /** A state that takes memory for its members from a share. */
    DistinctState(PartitionKey key, Capacity.Share stamps) {
        super(key);
        this.stamps = stamps;
    }

    @Override
    long wanted(Charge charge, Limit limit, long now) {
        return isKnown(charge, now) ? 0 : charge.permits();
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        if (charge.permits() == 0) {
            return Verdict.GRANTS;
        }
        if (isKnown(charge, now)) {
            return Verdict.of(!limit.deniesRepeats());
        }
        boolean fits = counted(now) + permits <= limit.permits();
        boolean lacksMemory = fits && take && !stamps.hasLeft(permits * STAMPS_A_MEMBER);
        return lacksMemory ? Verdict.LACKS_MEMORY : Verdict.of(fits);
    }

    private boolean isKnown(Charge charge, long now) {
        return end > now && members.containsKey(id(charge));
    }

    private long counted(long now) {
        return end > now ? members.size() : 0;
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long counted = counted(now);
        long until = counted > 0 ? end : 0;
        long latest = now + limit.periodMicros();
        long stamp = 0;
        if (charge.permits() > 0 && (granted || (take && until > latest))) {
            boolean isKnown = isKnown(charge, now);
            stamp = granted && !isKnown ? now : 0;
            // A clock that stepped back, or a shorter period, cuts the window.
            until = counted == 0 ? latest : Math.min(until, latest);
            if (take && counted == 0) {
                clear();
            }
            counted += stamp > 0 ? 1 : 0;
            if (take && stamp > 0) {
                members.put(id(charge), now);
                stamps.change(STAMPS_A_MEMBER);
            }
            if (take && granted && isKnown) {
                // The refund of the call that added it must not make this one free.
                members.computeIfPresent(id(charge), (member, added) -> -Math.abs(added));
            }
            end = take ? until : end;
        }
        long wait = counted > 0 ? until - now : 0;
        long retryAfter = allowed ? 0 : wait > 0 ? wait : limit.periodMicros();
        long remaining = Math.max(0, limit.permits() - counted);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, wait, wait, stamp);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        if (stamp == 0 || end <= now || !members.remove(id(charge), stamp)) {
            return false;
        }
        stamps.change(-STAMPS_A_MEMBER);
        end = members.isEmpty() ? 0 : Math.min(end, now + limit.periodMicros());
        return true;
    }

    @Override
    void clear() {
        stamps.change(-STAMPS_A_MEMBER * members.size());
        members.clear();
        end = 0;
    }

    @Override
    long fullAtMicros() {
        return end;
    }

    private String id(Charge charge) {
        return owned(charge, charge.memberText());
    }
}
