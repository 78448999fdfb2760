package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An exact log of the permits admitted in (now - period, now], one timestamp for each permit, oldest first. The twin of
 * sliding_list.lua and sliding_zset.lua, which keep one meaning in two layouts.
 *
 * <p>The timestamps are in a ring that grows with use. When the table's {@link Capacity} is used up, a log is limited
 * to the permits that its ring holds: it denies early rather than forget.
 */
final class SlidingLogState extends State {
    private static final int FIRST_CAPACITY = 4;
    private static final long[] EMPTY = {};
    private static final long NONE = -1;

    private final Capacity.Share stamps;
    private long[] ring = EMPTY;
    /** The calls that count by their request id, in the order of their timestamps; null until a call has one. Some may have expired. */
    private @Nullable Map<String, Identified> byId;

    private int head;
    private int size;
    private long fullAt;

    /** What a call with a request id took. */
    private record Identified(long stamp, long permits) {}

    /** A log that takes memory for its timestamps from a share. */
    SlidingLogState(PartitionKey key, Capacity.Share stamps) {
        super(key);
        this.stamps = stamps;
    }

    /** The number of timestamps for which a new one needs memory. */
    static long firstStamps(long permits, Limit limit) {
        return Math.max(permits, Math.min(FIRST_CAPACITY, limit.permits()));
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        if (charge.permits() == 0 || repeatedStamp(charge, limit, permits, now) != NONE) {
            return Verdict.GRANTS;
        }
        long wanted = size - expired(limit, now) + permits;
        long grows = wanted - ring.length;
        boolean fits = wanted <= limit.permits();
        return take && fits && grows > 0 && !stamps.hasLeft(grows) ? Verdict.LACKS_MEMORY : Verdict.of(fits);
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        int expired = expired(limit, now);
        long live = (long) size - expired;
        long repeated = repeatedStamp(charge, limit, permits, now);
        long stamp = repeated == NONE ? now : repeated;
        // A timestamp later than now, which only a clock that stepped back leaves, counts as now.
        stamp = Math.min(stamp, now);
        if (charge.permits() > 0 && (granted || take)) {
            long added = granted && repeated == NONE ? charge.permits() : 0;
            live += added;
            if (take && added > 0) {
                add(charge, limit, expired, now);
            } else if (take) {
                cut(limit, now);
            }
            if (take) {
                expired = (int) (size - live);
            }
        }
        long period = limit.periodMicros();
        long next = live == 0 ? 0 : leaving(expired + Math.max(0, live - limit.permits()), now) + period - now;
        long reset = live == 0 ? 0 : leaving(expired + live - 1, now) + period - now;
        long retryAfter = allowed ? 0 : retryAfter(limit, expired, live + permits, permits, now);
        long remaining = Math.max(0, limit.permits() - live);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, next, reset, stamp);
    }

    /** @param wanted permits of the charge, and those that count now */
    private long retryAfter(Limit limit, long expired, long wanted, long permits, long now) {
        if (permits > limit.permits()) {
            return LimitOutcome.NEVER;
        }
        // If it could not grow: when enough have left its ring.
        long most = wanted > limit.permits() ? limit.permits() : ring.length;
        long period = limit.periodMicros();
        return permits > most ? period : leaving(expired + wanted - most - 1, now) + period - now;
    }

    /** Adds the timestamps of a call that is granted. */
    private void add(Charge charge, Limit limit, int expired, long now) {
        grow(size - expired + charge.permits(), limit.permits());
        rewrite(limit, expired, now);
        String id = id(charge);
        if (id != null) {
            byId = byId == null ? new LinkedHashMap<>() : byId;
            byId.put(id, new Identified(now, charge.permits()));
        }
        for (long i = 0; i < charge.permits(); i++) {
            ring[slot(size++)] = now;
        }
    }

    /** Writes that timestamps later than now are now. */
    private void cut(Limit limit, long now) {
        if (size > 0 && ring[slot(size - 1)] > now) {
            rewrite(limit, expired(limit, now), now);
        }
    }

    /** Drops expired timestamps, and moves those later than now, which only a stepped clock leaves. */
    private void rewrite(Limit limit, int expired, long now) {
        if (byId != null) {
            Iterator<Identified> oldest = byId.values().iterator();
            while (oldest.hasNext() && oldest.next().stamp <= now - limit.periodMicros()) {
                oldest.remove();
            }
        }
        head = slot(expired);
        size -= expired;
        fullAt = now + limit.periodMicros();
        if (byId != null && size > 0 && ring[slot(size - 1)] > now) {
            byId.replaceAll((id, one) -> new Identified(Math.min(one.stamp, now), one.permits));
        }
        for (int i = size - 1; i >= 0 && ring[slot(i)] > now; i--) {
            ring[slot(i)] = now;
        }
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        String id = id(charge);
        Identified one = id == null || byId == null ? null : byId.get(id);
        boolean isCounted = id == null || one != null && one.stamp == stamp;
        boolean given = isCounted
                && stamp > now - limit.periodMicros()
                && remove(stamp, one == null ? charge.permits() : Math.min(charge.permits(), one.permits));
        if (given && one != null && byId != null) {
            byId.remove(id);
        }
        cut(limit, now);
        return given;
    }

    /** Removes up to so many timestamps of one time; whether there were any. */
    private boolean remove(long stamp, long most) {
        int first = firstAfter(stamp - 1);
        int removed = (int) Math.min(most, firstAfter(stamp) - first);
        for (int i = first + removed; i < size; i++) {
            ring[slot(i - removed)] = ring[slot(i)];
        }
        size -= removed;
        return removed > 0;
    }

    @Override
    void clear() {
        stamps.change(-ring.length);
        ring = EMPTY;
        byId = null;
        head = 0;
        size = 0;
        fullAt = 0;
    }

    @Override
    long fullAtMicros() {
        return fullAt;
    }

    /** The i-th timestamp, at most {@code now}. */
    private long leaving(long i, long now) {
        return i < size ? Math.min(now, ring[slot((int) i)]) : now;
    }

    private int slot(int i) {
        int slot = head + i;
        return slot < ring.length ? slot : slot - ring.length;
    }

    /** How many of the timestamps have expired. */
    private int expired(Limit limit, long now) {
        return firstAfter(now - limit.periodMicros());
    }

    /** How many are not later. */
    private int firstAfter(long time) {
        int low = 0;
        int high = 1;
        // Few have expired since the last call: the end of the search is doubled until it is past them.
        while (high <= size && ring[slot(high - 1)] <= time) {
            low = high;
            high *= 2;
        }
        high = Math.min(high - 1, size);
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ring[slot(middle)] > time) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** When a call with the request id of this one was admitted, if it still counts and could be this one. */
    private long repeatedStamp(Charge charge, Limit limit, long permits, long now) {
        if (byId == null || charge.permits() == 0 || permits > limit.permits()) {
            return NONE;
        }
        Identified one = byId.get(id(charge));
        return one == null || one.stamp <= now - limit.periodMicros() ? NONE : one.stamp;
    }

    /** Makes memory for that number of timestamps, and for more if there is plenty. */
    private void grow(long wanted, long limit) {
        if (wanted <= ring.length) {
            return;
        }
        long grown = Math.max(wanted, Math.min(limit, Math.max(FIRST_CAPACITY, 2L * ring.length)));
        if (!stamps.take(grown - ring.length)) {
            grown = wanted;
            stamps.change(grown - ring.length);
        }
        long[] larger = new long[(int) grown];
        for (int i = 0; i < size; i++) {
            larger[i] = ring[slot(i)];
        }
        ring = larger;
        head = 0;
    }

    private @Nullable String id(Charge charge) {
        String id = idText(charge);
        return id == null ? null : owned(charge, id);
    }
}
