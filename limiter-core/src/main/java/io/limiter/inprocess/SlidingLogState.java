package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
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
    /** The request id of each timestamp, in the same slots; null until a call has one. */
    private @Nullable String @Nullable [] ids;
    /** The newest timestamp of each request id; null until a call has one. Some may have expired. */
    private @Nullable Map<String, Long> stampOfId;

    private int head;
    private int size;
    private long fullAt;

    /**
     * A log that takes memory for its timestamps from a share. Without a key several
     * keys share it.
     */
    SlidingLogState(@Nullable PartitionKey key, Capacity.Share stamps) {
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
            ids = ids == null ? new String[ring.length] : ids;
            stampOfId = stampOfId == null ? new HashMap<>() : stampOfId;
            stampOfId.put(id, now);
        }
        for (long i = 0; i < charge.permits(); i++) {
            int slot = slot(size++);
            ring[slot] = now;
            if (ids != null) {
                ids[slot] = id;
            }
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
        for (int i = 0; i < expired && ids != null && stampOfId != null; i++) {
            int slot = slot(i);
            if (ids[slot] != null) {
                stampOfId.remove(ids[slot], ring[slot]);
                ids[slot] = null;
            }
        }
        head = slot(expired);
        size -= expired;
        fullAt = now + limit.periodMicros();
        for (int i = size - 1; i >= 0 && ring[slot(i)] > now; i--) {
            int slot = slot(i);
            ring[slot] = now;
            if (ids != null && stampOfId != null && ids[slot] != null) {
                stampOfId.put(ids[slot], now);
            }
        }
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        String id = id(charge);
        boolean given = stamp > now - limit.periodMicros() && remove(id, stamp, charge.permits());
        if (given && id != null && stampOfId != null) {
            stampOfId.remove(id, stamp);
        }
        cut(limit, now);
        return given;
    }

    /** Removes up to so many timestamps of one time, of a request id or without one; whether there were any. */
    private boolean remove(@Nullable String id, long stamp, long most) {
        long left = most;
        int kept = firstAfter(stamp - 1);
        for (int i = kept; i < size; i++) {
            int slot = slot(i);
            if (left > 0 && ring[slot] == stamp && Objects.equals(id, ids == null ? null : ids[slot])) {
                left--;
            } else {
                int to = slot(kept++);
                ring[to] = ring[slot];
                if (ids != null) {
                    ids[to] = ids[slot];
                }
            }
        }
        size = kept;
        return left < most;
    }

    @Override
    void clear() {
        stamps.change(-ring.length);
        ring = EMPTY;
        ids = null;
        stampOfId = null;
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
        if (stampOfId == null || charge.permits() == 0 || permits > limit.permits()) {
            return NONE;
        }
        String id = id(charge);
        Long stamp = id == null ? null : stampOfId.get(id);
        return stamp == null || stamp <= now - limit.periodMicros() ? NONE : stamp;
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
        String[] owners = ids == null ? null : new String[(int) grown];
        for (int i = 0; i < size; i++) {
            larger[i] = ring[slot(i)];
            if (owners != null && ids != null) {
                owners[i] = ids[slot(i)];
            }
        }
        ring = larger;
        ids = owners;
        head = 0;
    }

    private @Nullable String id(Charge charge) {
        String id = idText(charge);
        return id == null ? null : owned(charge, id);
    }
}
