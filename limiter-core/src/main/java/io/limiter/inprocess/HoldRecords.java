package io.limiter.inprocess;

import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The records of the reservations of one state, by their end, which is unique, and by until when they are kept. Nearly
 * each is later than those before it, so they are in arrays that grow at the end: a map would need more memory than the records.
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
        final Limit limit;
        final long id;
        private long keptUntil;
        /** Until it is settled or reset, or found to have run out. */
        boolean isOpen = true;

        boolean isSettled;

        Hold(long end, LimitOutcome taken, HoldTerms terms, long idle) {
            this.end = end;
            this.permits = taken.charge().permits();
            this.stamp = taken.stampMicros();
            this.limit = taken.limit();
            this.id = Long.parseUnsignedLong(terms.id(), 16);
            this.idle = idle;
            this.keptUntil = end + terms.lifeMicros();
        }
    }

    private final List<Hold> byEnd = new ArrayList<>(1);
    private final List<Hold> byKept = new ArrayList<>(1);

    int size() {
        return byEnd.size();
    }

    /** The one with that end. */
    @Nullable
    Hold find(long end) {
        int at = place(byEnd, hold -> hold.end, end);
        return at < byEnd.size() && byEnd.get(at).end == end ? byEnd.get(at) : null;
    }

    /** The one with that end and id, if it is still kept. */
    @Nullable
    Hold find(long end, String id, long now) {
        Hold hold = find(end);
        return hold != null && hold.id == Long.parseUnsignedLong(id, 16) && hold.keptUntil > now ? hold : null;
    }

    /** That time, or a later one at which none ends. */
    long freeEnd(long end) {
        for (int i = 0; i < TRIES; i++) {
            if (find(end + i) == null) {
                return end + i;
            }
        }
        return byEnd.get(byEnd.size() - 1).end + 1;
    }

    void add(Hold hold) {
        byEnd.add(place(byEnd, one -> one.end, hold.end), hold);
        keep(hold);
    }

    private void keep(Hold hold) {
        byKept.add(place(byKept, one -> one.keptUntil, hold.keptUntil), hold);
    }

    /** Keeps one that was settled after its end for as long from now on. */
    void keepAnew(Hold hold, long now) {
        if (now > hold.end) {
            int at = place(byKept, one -> one.keptUntil, hold.keptUntil);
            while (byKept.get(at) != hold) {
                at++;
            }
            byKept.remove(at);
            hold.keptUntil += now - hold.end;
            keep(hold);
        }
    }

    /** Forgets those that need not be kept any more; how many. */
    int purge(long now) {
        int gone = place(byKept, one -> one.keptUntil, now + 1);
        for (Hold hold : byKept.subList(0, gone)) {
            byEnd.remove(place(byEnd, one -> one.end, hold.end));
        }
        byKept.subList(0, gone).clear();
        return gone;
    }

    /** Until when the first is kept; there must be one. */
    long firstKeptUntil() {
        return byKept.get(0).keptUntil;
    }

    /** Until when the last is kept; 0 if there is none. */
    long lastKeptUntil() {
        return byKept.isEmpty() ? 0 : byKept.get(byKept.size() - 1).keptUntil;
    }

    void close() {
        byEnd.forEach(hold -> hold.isOpen = false);
    }

    /** The first place of one with that time or a later one. */
    private static int place(List<Hold> sorted, ToLongFunction<Hold> time, long wanted) {
        int low = 0;
        int high = sorted.size();
        if (high > 0 && time.applyAsLong(sorted.get(high - 1)) < wanted) {
            return high;
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (time.applyAsLong(sorted.get(middle)) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
