package io.limiter.inprocess;

import java.util.ArrayList;
import java.util.List;

/**
 * Units of memory that policies share. Half of them are divided evenly into guaranteed parts, one for each share, which are
 * never lent; the rest is lent to whichever share asks first, and comes back when it is no longer in use. So a flood of keys
 * under one policy takes nothing from the part of another. Thread-safe.
 *
 * <p>A share that is added later makes the guaranteed parts smaller. What was in use by then stays, so the units in use can
 * exceed the total by at most the parts that were added while it was all in use.
 */
final class Capacity {
    private final long total;
    private long guaranteed;
    private long used;
    private long borrowed;

    private final List<Share> all = new ArrayList<>();

    Capacity(long total) {
        this.total = total;
    }

    /** Adds a share. */
    synchronized Share newShare() {
        Share share = new Share();
        all.add(share);
        guaranteed = total / 2 / all.size();
        borrowed = 0;
        for (Share each : all) {
            borrowed += each.borrowed(each.inUse);
        }
        return share;
    }

    /** How many units are in use, of all shares. */
    synchronized long used() {
        return used;
    }

    synchronized boolean isHalfSpent() {
        return used >= total / 2;
    }

    /** What one policy uses. */
    final class Share {
        private long inUse;

        private Share() {}

        /** Whether so many more can be taken now. */
        boolean hasLeft(long units) {
            synchronized (Capacity.this) {
                long extra = extra(units);
                return extra == 0 || borrowed + extra <= total - guaranteed * all.size();
            }
        }

        /** Takes so many more, all or none. */
        boolean take(long units) {
            synchronized (Capacity.this) {
                if (!hasLeft(units)) {
                    return false;
                }
                change(units);
                return true;
            }
        }

        /** Takes so many more, also where others took the last meanwhile: too many by what is decided at this moment. */
        void takeAnyway(long units) {
            synchronized (Capacity.this) {
                change(units);
            }
        }

        /** Gives so many back. */
        void give(long units) {
            synchronized (Capacity.this) {
                change(-units);
            }
        }

        private void change(long units) {
            borrowed += extra(units);
            inUse += units;
            used += units;
        }

        private long extra(long units) {
            return borrowed(inUse + units) - borrowed(inUse);
        }

        private long borrowed(long units) {
            return Math.max(0, units - guaranteed);
        }
    }
}
