package io.limiter.kit;

import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The records of what was reserved of one state, as {@link NaiveLimiter} has it: a list that is searched each time. */
final class NaiveHolds {
    /** How many records a call looks through. */
    static final int PORTION = 50;

    /** One reservation. */
    static final class Hold {
        final HoldTerms terms;
        final long permits;
        /** The end of the window in which it was counted. */
        final long window;

        /** When it ends; if it was found to have run out, until when it is kept. */
        long end;

        boolean isMarked;

        Hold(HoldTerms terms, long permits, long window, long end) {
            this.terms = terms;
            this.permits = permits;
            this.window = window;
            this.end = end;
        }
    }

    private final List<Hold> all = new ArrayList<>();

    NaiveHolds copy() {
        NaiveHolds copy = new NaiveHolds();
        for (Hold one : all) {
            Hold same = new Hold(one.terms, one.permits, one.window, one.end);
            same.isMarked = one.isMarked;
            copy.all.add(same);
        }
        return copy;
    }

    void add(Hold hold) {
        all.add(hold);
    }

    void remove(Hold hold) {
        all.remove(hold);
    }

    @Nullable
    Hold find(String id) {
        return all.stream().filter(one -> one.terms.id().equals(id)).findFirst().orElse(null);
    }

    private List<Hold> of(boolean marked) {
        return all.stream()
                .filter(one -> one.isMarked == marked)
                .sorted(Comparator.<Hold>comparingLong(one -> one.end).thenComparing(one -> one.terms.id()))
                .toList();
    }

    /** Finds what has run out, and what ends later than the clock allows. */
    void tidy(long now, Consumer<Hold> gone) {
        for (Hold one : of(false).stream().limit(PORTION).toList()) {
            if (one.end <= now) {
                gone.accept(one);
                one.isMarked = true;
                one.end += one.terms.keepMicros();
                if (one.end <= now) {
                    all.remove(one);
                }
            } else if (one.end > now + one.terms.ttlMicros()) {
                one.end = now + one.terms.ttlMicros();
            } else {
                return;
            }
        }
    }

    /** How long until there is room for one more. */
    long waitForRoom(int most, long now) {
        if (all.size() >= most) {
            of(true).stream().limit(PORTION).filter(one -> one.end <= now).forEach(all::remove);
        }
        if (all.size() < most) {
            return 0;
        }
        List<Hold> marked = of(true);
        List<Hold> open = of(false);
        long until = marked.isEmpty() ? open.get(0).end + open.get(0).terms.keepMicros() : marked.get(0).end;
        return Math.max(1, until - now);
    }

    int open() {
        return of(false).size();
    }

    long held() {
        return of(false).stream().mapToLong(one -> one.permits).sum();
    }

    /** When the last one ends that is open. */
    long lastEnd(long now) {
        return of(false).stream().mapToLong(one -> Math.max(now, one.end)).max().orElse(now);
    }
}
