package io.limiter.inprocess;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;

/**
 * Units of memory that policies share. Half of them are divided evenly into guaranteed parts, one for each share, which are
 * never lent; the rest is lent to the first shares that need it, and is returned when it is no longer in use. So a
 * flood of keys under one policy takes nothing from the part of another. Thread-safe.
 *
 * <p>A share that is added later makes the guaranteed parts smaller, and a retracted share has none: what it still uses
 * is lent. Units in use stay in use, so they can exceed the total by at most the parts that were added or retracted
 * while all of it was in use.
 */
final class Capacity {
    /** The share of states that take nothing. All tables have it, so what it has in use is not counted. */
    static final Share UNLIMITED = new Capacity(Long.MAX_VALUE).new Share();

    private final long total;
    private final List<Share> guaranteed = new ArrayList<>();
    /** The read lock is held while a share changes, which threads do concurrently; the write lock while the parts change. */
    private final StampedLock parts = new StampedLock();
    /** The guaranteed part of each share. */
    private long part;

    private final AtomicLong used = new AtomicLong();
    /** Units in use beyond the guaranteed parts. */
    private final AtomicLong lent = new AtomicLong();

    Capacity(long total) {
        this.total = total;
    }

    /** How many units are in use, of all shares. */
    long used() {
        return used.get();
    }

    boolean isHalfSpent() {
        return used.get() >= total / 2;
    }

    private long lendable() {
        return total - part * guaranteed.size();
    }

    /** The units of one policy. */
    final class Share {
        private final AtomicLong inUse = new AtomicLong();
        private volatile boolean isGuaranteed;

        /** Gives it a guaranteed part, or removes that. */
        void guarantee(boolean wanted) {
            long stamp = parts.writeLock();
            try {
                if (isGuaranteed == wanted) {
                    return;
                }
                isGuaranteed = wanted;
                if (wanted) {
                    guaranteed.add(this);
                } else {
                    guaranteed.remove(this);
                }
                part = total / 2 / Math.max(1, guaranteed.size());
                long kept = 0;
                for (Share share : guaranteed) {
                    kept += Math.min(share.inUse.get(), part);
                }
                lent.set(used.get() - kept);
            } finally {
                parts.unlockWrite(stamp);
            }
        }

        boolean isGuaranteed() {
            return isGuaranteed;
        }

        /** Whether nothing of it is guaranteed or in use. */
        boolean isUnused() {
            return reading(() -> !isGuaranteed && inUse.get() == 0);
        }

        /** Whether that many more can be taken now. */
        boolean hasLeft(long units) {
            return reading(() -> {
                long before = inUse.get();
                long extra = lent(before + units) - lent(before);
                return extra == 0 || lent.get() + extra <= lendable();
            });
        }

        /** Takes that many more, all or none. */
        boolean take(long units) {
            return reading(() -> {
                // Of two threads that take the last at once both may fail; none takes too much.
                boolean fits = lent(add(units)) == 0 || lent.get() <= lendable();
                if (!fits) {
                    add(-units);
                }
                return fits;
            });
        }

        /** Takes that many more, even if others have taken the last ones; returns units if it is negative. */
        void change(long units) {
            reading(() -> {
                add(units);
                return true;
            });
        }

        private long add(long units) {
            long after = inUse.addAndGet(units);
            lent.addAndGet(lent(after) - lent(after - units));
            used.addAndGet(units);
            return after;
        }

        private long lent(long units) {
            return isGuaranteed ? Math.max(0, units - part) : units;
        }

        private boolean reading(BooleanSupplier work) {
            if (this == UNLIMITED) {
                return true;
            }
            long stamp = parts.readLock();
            try {
                return work.getAsBoolean();
            } finally {
                parts.unlockRead(stamp);
            }
        }
    }
}
