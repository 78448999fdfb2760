package io.limiter.inprocess;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Units of memory that policies share. Half of them are divided evenly into guaranteed parts, one for each share, which are
 * never lent; the rest is lent to the first shares that need it, and is returned when it is no longer in use. So a
 * flood of keys under one policy takes nothing from the part of another. Thread-safe.
 *
 * <p>A share that is added later makes the guaranteed parts smaller, and a retracted share has none: what it still uses
 * is lent, also when the policy comes back, with a new share; so its old states grow from lent memory only. Units in use
 * stay in use, so they can exceed the total by at most the parts that were added or retracted while all of it was in use.
 */
final class Capacity {
    /** The share of states that take nothing. All tables have it. */
    static final Share UNLIMITED = new Capacity(Long.MAX_VALUE).new Share();

    /** The share of states that must take nothing. */
    static final Share NONE = new Capacity(0).new Share();

    private final long total;
    // All that follows is written under the lock of this.
    private final Set<Share> guaranteed = new HashSet<>();
    /** The guaranteed part of each share. */
    private long part;
    /** Units in use beyond the guaranteed parts. */
    private long lent;

    private volatile long used;

    /**
     * The shares of one policy: states, and timestamps of its logs.
     *
     * @param shared those of the states that keys share; null for these themselves
     */
    record Shares(
            String owner,
            Share entries,
            Share stamps,
            @Nullable Shares shared) {
        /** Sets whether a part of the memory is guaranteed. */
        void guarantee(boolean wanted) {
            entries.guarantee(wanted);
            stamps.guarantee(wanted);
            if (shared != null) {
                shared.guarantee(wanted);
            }
        }

        /** Whether there is memory for one more state with that number of timestamps. */
        boolean hasRoom(long timestamps) {
            return entries.hasLeft(1) && stamps.hasLeft(timestamps);
        }
    }

    Capacity(long total) {
        this.total = total;
    }

    /** How many units are in use, of all shares. */
    long used() {
        return used;
    }

    boolean isHalfSpent() {
        return used >= total / 2;
    }

    /** The units of one policy. */
    final class Share {
        private long inUse;
        private boolean isGuaranteed;

        /** Gives it a guaranteed part, or removes that. */
        void guarantee(boolean wanted) {
            synchronized (Capacity.this) {
                isGuaranteed = wanted;
                if (wanted) {
                    guaranteed.add(this);
                } else {
                    guaranteed.remove(this);
                }
                part = total / 2 / Math.max(1, guaranteed.size());
                lent = used
                        - guaranteed.stream()
                                .mapToLong(share -> Math.min(share.inUse, part))
                                .sum();
            }
        }

        /** Whether that many more can be taken now. */
        boolean hasLeft(long units) {
            synchronized (Capacity.this) {
                long extra = lent(inUse + units) - lent(inUse);
                return extra == 0 || lent + extra <= total - part * guaranteed.size();
            }
        }

        /** Takes that many more, all or none. */
        boolean take(long units) {
            synchronized (Capacity.this) {
                boolean fits = hasLeft(units);
                if (fits) {
                    change(units);
                }
                return fits;
            }
        }

        /** Takes that many more, even if others have taken the last ones; returns units if it is negative. */
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
