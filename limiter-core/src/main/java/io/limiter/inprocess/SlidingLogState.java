package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An exact log of the permits admitted in (now - period, now], one stamp a permit, oldest first. The twin of
 * sliding_list.lua and sliding_zset.lua, which keep one meaning in two layouts.
 *
 * <p>The stamps lie in a ring that grows with use. Where the table's {@link Capacity} is spent, a log is limited to
 * the permits that its ring holds: it denies too early rather than forget.
 */
final class SlidingLogState extends State {
    private static final int FREE = 0;
    private static final int HELD = 1;
    private static final int DROPPED = 2;
    private static final int FIRST_CAPACITY = 4;
    private static final VarHandle LOCK;

    static {
        try {
            LOCK = MethodHandles.lookup().findVarHandle(SlidingLogState.class, "lock", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Capacity.@Nullable Share stamps;
    private volatile int lock;

    private long[] ring = {};
    /** The request id of each stamp, in the same slots; null until a call brings one. */
    private @Nullable String @Nullable [] ids;
    /** The stamp of each request id in the log; null until a call brings one. */
    private @Nullable Map<String, Long> stampOfId;

    private int head;
    private int size;
    private long fullAt;

    /** A log that takes room for its stamps from a share; without one it is only looked at. Without a key several share it. */
    SlidingLogState(@Nullable Room owner, @Nullable PartitionKey key, Capacity.@Nullable Share room) {
        super(owner, key);
        this.stamps = room;
    }

    /** How much room a new log takes for its first call. */
    static long firstCapacity(Ask ask) {
        return Math.max(ask.charge.permits(), Math.min(FIRST_CAPACITY, ask.limit.permits()));
    }

    @Override
    boolean hold() {
        int turns = 0;
        while (!LOCK.compareAndSet(this, FREE, HELD)) {
            if (lock == DROPPED) {
                return false;
            }
            turns = pause(turns);
        }
        return true;
    }

    @Override
    void release() {
        if (lock == HELD) {
            lock = FREE;
        }
    }

    @Override
    void look(Ask ask) {
        long limit = ask.limit.permits();
        long n = ask.permits();
        int first = firstLater(0, size, ask.now - ask.limit.periodMicros());
        ask.level = first;
        ask.end = (long) size - first;
        ask.live = ask.end;
        ask.stamp = ask.now;
        ask.written = false;
        ask.allowed = ask.charge.permits() == 0 || ask.live + n <= limit;
        ask.repeated = false;
        ask.noRoom = false;
        String id = id(ask.charge);
        if (id != null && stampOfId != null && n > 0 && n <= limit) {
            Long stamp = stampOfId.get(id);
            if (stamp != null && stamp > ask.now - ask.limit.periodMicros()) {
                ask.allowed = true;
                ask.repeated = true;
                ask.stamp = stamp;
            }
        }
        if (ask.allowed && ask.take && !ask.repeated && !hasRoom(ask.live + n)) {
            ask.allowed = false;
            ask.noRoom = true;
        }
    }

    @Override
    void charge(Ask ask) {
        long n = ask.repeated ? 0 : ask.charge.permits();
        ask.live += n;
        if (!ask.take) {
            ask.written = true;
            ask.stamp = Math.min(ask.stamp, ask.now);
        } else if (ask.repeated) {
            settle(ask);
        } else {
            grow(ask.live, ask.limit.permits());
            rewrite(ask);
            for (long i = 0; i < n; i++) {
                int slot = slot(size++);
                ring[slot] = ask.now;
                setId(slot, ask.charge, ask.now);
            }
        }
    }

    @Override
    void settle(Ask ask) {
        if (ask.end == 0) {
            return;
        }
        if (ring[slot(size - 1)] > ask.now) {
            rewrite(ask);
        } else {
            // A longer period: the log is kept as long as its newest stamp counts now.
            fullAt = Math.max(fullAt, ring[slot(size - 1)] + ask.limit.periodMicros());
        }
    }

    /** Drops the stamps that have expired, and moves those that are later than now. */
    private void rewrite(Ask ask) {
        forgetOldest((int) ask.level);
        ask.level = 0;
        ask.written = true;
        ask.stamp = Math.min(ask.stamp, ask.now);
        fullAt = ask.now + ask.limit.periodMicros();
        for (int i = size - 1; i >= 0 && ring[slot(i)] > ask.now; i--) {
            // Only a clock that stepped back leaves a stamp later than now.
            ring[slot(i)] = ask.now;
            restampId(slot(i), ask.now);
        }
    }

    @Override
    void describe(Ask ask) {
        long limit = ask.limit.permits();
        ask.retryAfter = ask.allowed ? 0 : ask.neverFits() ? LimitOutcome.NEVER : retryAfter(ask);
        ask.remaining = Math.max(0, limit - ask.live);
        ask.next = ask.live == 0 ? 0 : leaves(ask, Math.max(0, ask.live - limit));
        ask.reset = ask.live == 0 ? 0 : leaves(ask, ask.live - 1);
    }

    /** When enough stamps have left the log; where it could not grow, when enough have left its ring. */
    private long retryAfter(Ask ask) {
        long n = ask.permits();
        if (!ask.noRoom) {
            return leaves(ask, ask.live + n - ask.limit.permits() - 1);
        }
        return n > ring.length ? ask.limit.periodMicros() : leaves(ask, ask.live + n - ring.length - 1);
    }

    @Override
    boolean back(Ask ask, long stamp) {
        String id = id(ask.charge);
        boolean counts = stamp > ask.now - ask.limit.periodMicros();
        if (!counts || (id != null && (stampOfId == null || !Long.valueOf(stamp).equals(stampOfId.get(id))))) {
            return false;
        }
        long left = ask.charge.permits();
        int kept = 0;
        for (int i = 0; i < size; i++) {
            int slot = slot(i);
            String owner = ids == null ? null : ids[slot];
            if (left > 0 && ring[slot] == stamp && (id == null ? owner == null : id.equals(owner))) {
                left--;
            } else {
                move(slot, slot(kept++));
            }
        }
        if (kept == size) {
            return false;
        }
        size = kept;
        if (id != null && stampOfId != null) {
            stampOfId.remove(id);
        }
        return true;
    }

    @Override
    void clear() {
        if (stamps != null) {
            stamps.give(ring.length);
        }
        ring = new long[0];
        head = 0;
        size = 0;
        ids = null;
        stampOfId = null;
        fullAt = 0;
    }

    @Override
    long fullAtMicros() {
        return fullAt;
    }

    @Override
    void drop() {
        clear();
        lock = DROPPED;
    }

    /** When the i-th live stamp leaves the log, from now. Once a call is written, a stamp later than now is now. */
    private long leaves(Ask ask, long i) {
        long stamp = i >= ask.end ? ask.now : ring[slot((int) (ask.level + i))];
        return (ask.written ? Math.min(stamp, ask.now) : stamp) + ask.limit.periodMicros() - ask.now;
    }

    private int slot(int i) {
        int slot = head + i;
        return slot < ring.length ? slot : slot - ring.length;
    }

    private int firstLater(int from, int to, long time) {
        int low = from;
        int high = to;
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

    /** Whether so many stamps fit, in the ring or in a larger one. */
    private boolean hasRoom(long wanted) {
        return wanted <= ring.length || stamps == null || stamps.hasLeft(wanted - ring.length);
    }

    /** Makes room for so many stamps, and for some more where there is plenty. */
    private void grow(long wanted, long limit) {
        if (wanted <= ring.length || stamps == null) {
            return;
        }
        long grown = Math.max(wanted, Math.min(limit, Math.max(FIRST_CAPACITY, 2L * ring.length)));
        if (!stamps.take(grown - ring.length)) {
            grown = wanted;
            stamps.takeAnyway(grown - ring.length);
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

    private void forgetOldest(int count) {
        for (int i = 0; i < count; i++) {
            String id = ids == null ? null : ids[head];
            if (id != null && stampOfId != null) {
                stampOfId.remove(id, ring[head]);
            }
            head = head + 1 == ring.length ? 0 : head + 1;
            size--;
        }
    }

    private void restampId(int slot, long stamp) {
        String id = ids == null ? null : ids[slot];
        if (id != null && stampOfId != null) {
            stampOfId.put(id, stamp);
        }
    }

    private void setId(int slot, Charge charge, long stamp) {
        String id = id(charge);
        if (id != null) {
            if (ids == null || stampOfId == null) {
                ids = new String[ring.length];
                stampOfId = new HashMap<>();
            }
            ids[slot] = id;
            stampOfId.put(id, stamp);
        } else if (ids != null) {
            ids[slot] = null;
        }
    }

    /** The request id as it is kept: in a log that keys share, two of them may use the same. */
    private @Nullable String id(Charge charge) {
        String id = charge.requestId();
        return id == null || key != null
                ? id
                : charge.policy().name() + " " + charge.key().canonical() + " " + id;
    }

    private void move(int from, int to) {
        ring[to] = ring[from];
        if (ids != null) {
            ids[to] = ids[from];
        }
    }
}
