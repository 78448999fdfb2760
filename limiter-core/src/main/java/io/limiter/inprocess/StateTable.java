package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All states, bounded in their number and in the stamps that logs hold. A state that is back to full may be dropped, which
 * loses nothing; a used one never is. When nothing may be dropped, a new key gets one of the shared states of its limit,
 * and stays there until that state is full again, so that no key ever has both.
 *
 * <p>The states wait in a queue by the time at which they may be full; the queue is locked only when a key is new.
 */
final class StateTable {
    private static final Logger LOG = LoggerFactory.getLogger(InProcessBackend.class);
    private static final long WARN_EVERY_MICROS = 60_000_000;
    /** How many states a newcomer looks at to drop them: while there is room, and when there is none. */
    private static final int LOOKS = 8;

    private static final int LOOKS_WHEN_FULL = 64;
    private static final long SWEEP_EVERY_MICROS = 100_000;

    private record RoomName(String policy, String limit, Algorithm algorithm) {}

    private final ConcurrentHashMap<RoomName, Room> rooms = new ConcurrentHashMap<>();
    private final int maxEntries;
    private final StampBudget budget;
    private final StampBudget sharedBudget;
    private final ReentrantLock queueLock = new ReentrantLock();
    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private final LongAdder overflowed = new LongAdder();
    private final AtomicLong nextWarning = new AtomicLong(Long.MIN_VALUE);
    /** When the shared states may be swept again. Guarded by the queue's lock. */
    private long nextSweep = Long.MIN_VALUE;

    private volatile int entries;

    StateTable(int maxEntries, long maxStamps) {
        this.maxEntries = maxEntries;
        this.budget = new StampBudget(maxStamps);
        this.sharedBudget = new StampBudget(maxStamps);
    }

    int entries() {
        return entries;
    }

    long stamps() {
        return budget.held();
    }

    long overflowed() {
        return overflowed.sum();
    }

    /**
     * The state that decides an ask: the key's own, a new one, a shared one, or a blank when nothing will be taken. The
     * ask leaves a shared one when it is decided.
     */
    State find(Ask ask) {
        ask.leave();
        Room room = room(ask.charge.policy().name(), ask.limit);
        State state = room.states.get(ask.charge.key());
        if (state != null) {
            return state;
        }
        boolean takesNothing = !ask.take || ask.charge.permits() == 0 || ask.charge.permits() > ask.limit.capacity();
        return takesNothing ? standIn(room, ask) : create(room, ask);
    }

    /** Drops what it can to make room for more stamps. */
    void reclaim(long now) {
        queueLock.lock();
        try {
            drop(now, LOOKS_WHEN_FULL);
            if (now >= nextSweep) {
                nextSweep = now + SWEEP_EVERY_MICROS;
                for (Room room : rooms.values()) {
                    Overflow overflow = room.overflow();
                    if (overflow != null) {
                        overflow.sweep(now);
                    }
                }
            }
        } finally {
            queueLock.unlock();
        }
    }

    /** The state of a key's own, or null. */
    @Nullable
    State own(String policy, Limit limit, PartitionKey key) {
        return room(policy, limit).states.get(key);
    }

    /** The state that stands for a key among those that are shared, or null. */
    @Nullable
    State shared(String policy, Limit limit, PartitionKey key) {
        Overflow overflow = room(policy, limit).overflow();
        return overflow == null ? null : overflow.find(key);
    }

    private Room room(String policy, Limit limit) {
        RoomName name = new RoomName(policy, Objects.requireNonNull(limit.name()), limit.algorithm());
        Room room = rooms.get(name);
        return room != null ? room : rooms.computeIfAbsent(name, n -> new Room(n.algorithm, budget, sharedBudget));
    }

    private static State standIn(Room room, Ask ask) {
        Overflow overflow = room.overflow();
        if (overflow != null && overflow.isInUse(ask.charge.key(), ask.now)) {
            return Objects.requireNonNull(overflow.find(ask.charge.key()), "a state in use is there");
        }
        return room.blank();
    }

    private State create(Room room, Ask ask) {
        PartitionKey key = ask.charge.key();
        queueLock.lock();
        try {
            State other = room.states.get(key);
            if (other != null) {
                return other;
            }
            Overflow overflow = room.overflow();
            if (overflow != null && overflow.isInUse(key, ask.now)) {
                return enter(overflow, ask);
            }
            if (queue.size() >= maxEntries / 2 || budget.isHalfSpent()) {
                drop(ask.now, LOOKS);
            }
            if (isFull(ask)) {
                drop(ask.now, LOOKS_WHEN_FULL);
            }
            if (isFull(ask)) {
                return enter(room.openOverflow(), ask);
            }
            State state = room.newState(key);
            // The earliest time at which a charge of now can be back to full.
            state.dueMicros = ask.now + Math.max(1, ask.limit.periodMicros() / Math.max(1, ask.limit.permits()));
            queue.add(state);
            room.states.put(key, state);
            entries = queue.size();
            return state;
        } finally {
            queueLock.unlock();
        }
    }

    private boolean isFull(Ask ask) {
        return queue.size() >= maxEntries
                || (ask.limit.algorithm().isLog() && !budget.hasLeft(SlidingLogState.firstCapacity(ask)));
    }

    /** Drops what is back to full, as far as so many looks go. */
    private void drop(long now, int looks) {
        State due = queue.peek();
        for (int i = 0; i < looks && due != null && due.dueMicros <= now; i++) {
            queue.remove();
            if (!dropIfFull(due, now)) {
                queue.add(due);
            }
            due = queue.peek();
        }
        entries = queue.size();
    }

    private static boolean dropIfFull(State state, long now) {
        if (!state.hold()) {
            return true;
        }
        try {
            state.dueMicros = Math.max(state.fullAtMicros(), now + 1);
            if (state.fullAtMicros() > now) {
                return false;
            }
            // Out of the map first: who finds it dropped must not find it again.
            Objects.requireNonNull(state.room).states.remove(Objects.requireNonNull(state.key), state);
            state.drop();
            return true;
        } finally {
            state.release();
        }
    }

    private State enter(Overflow overflow, Ask ask) {
        ask.entered = overflow;
        overflowed.increment();
        long now = TimeSource.system().nowMicros();
        long due = nextWarning.get();
        if (now >= due && nextWarning.compareAndSet(due, now + WARN_EVERY_MICROS)) {
            LOG.warn(
                    "RL-401 the table of {} states and {} stamps is full of keys in use: new keys share {} states of their"
                            + " limit. Raise max-entries or max-stamps, or look for who sends so many keys. Calls"
                            + " decided so until now: {}; logged once a minute",
                    entries,
                    budget.held(),
                    Overflow.STATES,
                    overflowed.sum());
        }
        return overflow.enter(ask.charge.key());
    }
}
