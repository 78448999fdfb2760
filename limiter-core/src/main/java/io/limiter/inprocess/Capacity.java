package io.limiter.inprocess;

import java.util.ArrayList;
import java.util.List;

/**
 * Units of memory that policies share. Half of them are divided evenly into guaranteed parts, one for each share, which are
 * never lent; the rest is lent to whichever share asks first, and comes back when it is no longer in use. So a flood of keys
 * under one policy takes nothing from the part of another. Thread-safe.
 *
 * <p>A share that is added later makes the guaranteed parts smaller, and one that is retracted has none: what it still uses
 * is lent. What was in use by then stays, so the units in use can exceed the total by at most the parts that were added or
 * retracted while it was all in use.
 */
final class Capacity {
    private final long total;
    private final List<Share> guaranteed = new ArrayList<>();
    /** How much is guaranteed to each of those. */
    private long part;

    private long used;
    /** What is in use beyond the guaranteed parts. */
    private long lent;

    Capacity(long total) {
        this.total = total;
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
        private boolean isGuaranteed;

        /** Gives it a guaranteed part, or takes that away. */
        void guarantee(boolean wanted) {
            synchronized (Capacity.this) {
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
                lent = used;
                for (Share share : guaranteed) {
                    lent -= Math.min(share.inUse, part);
                }
            }
        }

        /** Whether nothing of it is guaranteed or in use. */
        boolean isUnused() {
            synchronized (Capacity.this) {
                return !isGuaranteed && inUse == 0;
            }
        }

        /** Whether so many more can be taken now. */
        boolean hasLeft(long units) {
            synchronized (Capacity.this) {
                long extra = lent(inUse + units) - lent(inUse);
                return extra == 0 || lent + extra <= total - part * guaranteed.size();
            }
        }

        /** Takes so many more, all or none. */
        boolean take(long units) {
            synchronized (Capacity.this) {
                boolean left = hasLeft(units);
                change(left ? units : 0);
                return left;
            }
        }

        /** Takes so many more, also where others took the last meanwhile; gives back where it is negative. */
        void change(long units) {
            synchronized (Capacity.this) {
                lent += lent(inUse + units) - lent(inUse);
                inUse += units;
                used += units;
            }
        }

        private long lent(long units) {
            return isGuaranteed ? Math.max(0, units - part) : units;
        }
    }
}
