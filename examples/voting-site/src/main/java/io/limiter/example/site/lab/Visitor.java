package io.limiter.example.site.lab;

import io.limiter.PartitionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What this instance remembers of one visitor: the last calls, the totals, and the traffic in progress. Bounded.
 * Thread-safe.
 *
 * <p>A <i>round</i> lasts until the visitor sets other limits or resets the laboratory; each has keys of its own, so nothing of
 * the previous round counts.
 */
final class Visitor {
    /** The number of calls that are kept for drawing. */
    static final int MOST_ARRIVALS = 1_000;

    private final String id;
    private final Deque<Arrival> arrivals = new ArrayDeque<>();
    private final long[] admitted = new long[LabLimits.LANES];
    private final long[] denied = new long[LabLimits.LANES];
    private LabLimits limits;
    private long round;
    private long count;
    private @Nullable Run run;

    Visitor(String id, LabLimits limits, long firstRound) {
        this.id = id;
        this.limits = limits;
        this.round = firstRound;
    }

    /** The result of {@link #since}. */
    record Notes(
            long round, long count, List<Arrival> arrivals, List<Long> admitted, List<Long> denied, boolean running) {
        Notes {
            arrivals = List.copyOf(arrivals);
        }
    }

    /** The key in the four policies. Made from the cookie and the limits, so all instances use the same one. */
    PartitionKey key() {
        return PartitionKey.builder()
                .add("lab", id)
                .add("limits", limits().text())
                .build();
    }

    synchronized LabLimits limits() {
        return limits;
    }

    /** Continues with these limits; in a new round if they differ. */
    synchronized void under(LabLimits wanted) {
        if (!wanted.equals(limits)) {
            limits = wanted;
            newRound();
        }
    }

    /** Clears the drawing, and stops the traffic. */
    synchronized void newRound() {
        round++;
        arrivals.clear();
        count = 0;
        for (int lane = 0; lane < admitted.length; lane++) {
            admitted[lane] = 0;
            denied[lane] = 0;
        }
        replaceRun(null);
    }

    synchronized long round() {
        return round;
    }

    /** Records a call of this round; one of an earlier round is too late. */
    synchronized void note(long ofRound, double atMillis, List<Verdict> verdicts) {
        if (ofRound != round) {
            return;
        }
        count++;
        arrivals.addLast(new Arrival(count, atMillis, verdicts));
        if (arrivals.size() > MOST_ARRIVALS) {
            arrivals.removeFirst();
        }
        for (int lane = 0; lane < verdicts.size(); lane++) {
            (verdicts.get(lane).allowed() ? admitted : denied)[lane]++;
        }
    }

    /** The calls after that number, or all of them if the number is from another round. */
    synchronized Notes since(long ofRound, long number) {
        long after = ofRound == round ? number : 0;
        List<Arrival> later = new ArrayList<>();
        for (Arrival arrival : arrivals) {
            if (arrival.number() > after) {
                later.add(arrival);
            }
        }
        return new Notes(round, count, later, longs(admitted), longs(denied), run != null && !run.isOver());
    }

    /** Whether it has no data. */
    synchronized boolean isIdle() {
        return count == 0 && (run == null || run.isOver());
    }

    /** Stops the traffic in progress, and continues with the next. */
    synchronized void replaceRun(@Nullable Run next) {
        if (run != null) {
            run.stop();
        }
        run = next;
    }

    private static List<Long> longs(long[] values) {
        return Arrays.stream(values).boxed().toList();
    }
}
