package io.limiter.inprocess;

import io.limiter.LimitOutcome;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The records of the reservations of one state, in the order of their ends, which are unique. Nearly each is later than those before it,
 * so they are in an array that grows at the end: a map would need more memory than the records.
 */
final class HoldRecords {
    /** How many times are tried for an end before the one after all others. */
    private static final int TRIES = 256;

    /** One reservation. */
    static final class Hold {
        final long end;
        final long permits;
        /** What a refund of the charge needs. */
        final long stamp;

        final long idle;
        final long id;
        private long keptUntil;
        /** False once it is settled, reset, or found to have run out. */
        private boolean isOpen = true;

        boolean isSettled;

        Hold(long end, LimitOutcome taken, HoldTerms terms, long idle) {
            this.end = end;
            this.permits = taken.charge().permits();
            this.stamp = taken.stampMicros();
            this.id = Long.parseUnsignedLong(terms.id(), 16);
            this.idle = idle;
            this.keptUntil = end + terms.lifeMicros();
        }
    }

    private final List<Hold> all = new ArrayList<>(1);
    /** The permits of those that are open. */
    private long held;
    /** All that end by this time have been ended. */
    private long ended;

    /** When the last record may be forgotten. */
    private long lastKept;

    int size() {
        return all.size();
    }

    /** The first place of one that ends then or later. */
    private int place(long end) {
        int low = 0;
        int high = all.size();
        if (high > 0 && all.get(high - 1).end < end) {
            return high;
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (all.get(middle).end < end) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The one with that end and id, if it is still kept. */
    @Nullable
    Hold find(long end, String id, long now) {
        int at = place(end);
        Hold hold = at < all.size() ? all.get(at) : null;
        return hold != null && hold.end == end && hold.id == Long.parseUnsignedLong(id, 16) && hold.keptUntil > now
                ? hold
                : null;
    }

    /** That time, or a later one at which none ends. */
    long freeEnd(long wanted) {
        long end = Math.max(wanted, ended + 1);
        for (int at = place(end); at < all.size() && all.get(at).end == end; at++, end++) {
            if (end - wanted == TRIES - 1) {
                return all.get(all.size() - 1).end + 1;
            }
        }
        return end;
    }

    void add(Hold hold) {
        all.add(place(hold.end), hold);
        held += hold.permits;
        lastKept = Math.max(lastKept, hold.keptUntil);
    }

    /** Those that have run out and are still open. */
    List<Hold> runOut(long now) {
        return held == 0
                ? List.of()
                : all.subList(place(ended + 1), place(now + 1)).stream()
                        .filter(hold -> hold.isOpen)
                        .toList();
    }

    /** Ends those that have run out, and says which. */
    List<Hold> endRunOut(long now) {
        List<Hold> gone = runOut(now);
        gone.forEach(this::end);
        ended = Math.max(ended, now);
        return gone;
    }

    /** Ends one; whether it was open. */
    boolean end(Hold hold) {
        boolean was = hold.isOpen;
        held -= was ? hold.permits : 0;
        hold.isOpen = false;
        return was;
    }

    void endAll() {
        all.forEach(this::end);
    }

    /** The permits that are held now. */
    long held(long now) {
        return held - runOut(now).stream().mapToLong(hold -> hold.permits).sum();
    }

    /** When the last of them ends. */
    long lastEnd(long now) {
        int at = all.size() - 1;
        while (at >= 0 && !all.get(at).isOpen) {
            at--;
        }
        return at < 0 ? now : Math.max(now, all.get(at).end);
    }

    /** It is settled; if that is after its end, it is kept for as long from now on. */
    void settled(Hold hold, long now) {
        hold.isSettled = true;
        hold.keptUntil += Math.max(0, now - hold.end);
        lastKept = Math.max(lastKept, hold.keptUntil);
    }

    /** Forgets those that need not be kept any more; how many. */
    int purge(long now) {
        int before = all.size();
        all.removeIf(hold -> hold.keptUntil <= now);
        return before - all.size();
    }

    /** Until when the first is kept; there must be one. */
    long firstKept() {
        return all.stream().mapToLong(hold -> hold.keptUntil).min().orElseThrow();
    }

    /** Until when the last is kept. */
    long lastKept() {
        return lastKept;
    }
}
