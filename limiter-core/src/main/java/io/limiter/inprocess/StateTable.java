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
 * loses nothing; a used one never is. When nothing may be dropped, a new key gets one of the shared overflow states of
 * its limit, and stays there until that state is full again, so that no key ever has both.
 *
 * <p>The states wait in a queue by the time at which they may be full; the queue is locked only when a key is new.
 */
final class StateTable {
    private static final Logger LOG = LoggerFactory.getLogger(InProcessBackend.class);
    private static final long WARN_EVERY_MICROS = 60_000_000;
    private static final int DROPS_A_NEWCOMER = 8;

    private record RoomName(String policy, String limit, Algorithm algorithm) {}

    private final ConcurrentHashMap<RoomName, Room> rooms = new ConcurrentHashMap<>();
    private final int maxEntries;
    private final StampBudget budget;
    private final ReentrantLock queueLock = new ReentrantLock();
    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private final LongAdder overflowed = new LongAdder();
    private final AtomicLong nextWarning = new AtomicLong(Long.MIN_VALUE);
    private volatile int entries;

    StateTable(int maxEntries, long maxStamps) {
        this.maxEntries = maxEntries;
        this.budget = new StampBudget(maxStamps);
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

    /** The state that decides an ask: the key's own, a new one, a shared one, or a blank when nothing will be taken. */
    State find(Ask ask) {
        Room room = room(ask.charge.policy().name(), ask.limit);
        State state = room.states.get(ask.charge.key());
        if (state != null) {
            return state;
        }
        boolean takesNothing = !ask.take || ask.charge.permits() == 0 || ask.charge.permits() > ask.limit.capacity();
        return takesNothing ? standIn(room, ask) : create(room, ask);
    }

    /** The states that stand for a key now, own and shared. */
    @Nullable
    State own(String policy, Limit limit, PartitionKey key) {
        return room(policy, limit).states.get(key);
    }

    @Nullable
    State shared(String policy, Limit limit, PartitionKey key) {
        return room(policy, limit).overflowIfUsed(key);
    }

    private Room room(String policy, Limit limit) {
        RoomName name = new RoomName(policy, Objects.requireNonNull(limit.name()), limit.algorithm());
        Room room = rooms.get(name);
        return room != null ? room : rooms.computeIfAbsent(name, n -> new Room(n.algorithm, budget));
    }

    private State standIn(Room room, Ask ask) {
        State shared = room.overflowIfUsed(ask.charge.key());
        return shared != null && !isFull(shared, ask.now) ? shared : room.blank();
    }

    private State create(Room room, Ask ask) {
        PartitionKey key = ask.charge.key();
        State shared = room.overflowIfUsed(key);
        if (shared != null && !isFull(shared, ask.now)) {
            return overflow(room, key);
        }
        queueLock.lock();
        try {
            State other = room.states.get(key);
            if (other != null) {
                return other;
            }
            if (queue.size() >= maxEntries / 2 || budget.isHalfSpent()) {
                makeRoom(ask.now);
            }
            if (isFull()) {
                return overflow(room, key);
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

    private boolean isFull() {
        return queue.size() >= maxEntries || budget.isSpent();
    }

    /** Drops what is back to full: a few states each time, and as many as it takes when the table is full. */
    private void makeRoom(long now) {
        int looked = 0;
        State due = queue.peek();
        while (due != null && due.dueMicros <= now && (looked < DROPS_A_NEWCOMER || isFull())) {
            queue.remove();
            looked++;
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
            state.drop();
            Objects.requireNonNull(state.room).states.remove(Objects.requireNonNull(state.key), state);
            return true;
        } finally {
            state.release();
        }
    }

    private static boolean isFull(State shared, long now) {
        if (!shared.hold()) {
            return true;
        }
        try {
            return shared.fullAtMicros() <= now;
        } finally {
            shared.release();
        }
    }

    private State overflow(Room room, PartitionKey key) {
        overflowed.increment();
        long now = TimeSource.system().nowMicros();
        long due = nextWarning.get();
        if (now >= due && nextWarning.compareAndSet(due, now + WARN_EVERY_MICROS)) {
            LOG.warn(
                    "the table of {} states and {} stamps is full of keys in use: new keys share {} states of their"
                            + " limit. Raise max-entries or max-stamps, or look for who sends so many keys. Calls"
                            + " decided so until now: {}; logged once a minute",
                    entries,
                    budget.held(),
                    Room.OVERFLOW_STATES,
                    overflowed.sum());
        }
        return room.overflow(key);
    }
}
