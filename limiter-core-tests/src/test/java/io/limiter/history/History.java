package io.limiter.history;

import io.limiter.Limit;
import io.limiter.history.Event.Answer;
import io.limiter.history.Event.Kind;
import io.limiter.internal.Algorithm;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All calls on one key of one limit, and the judgment of them. It never accuses an exact limiter: each call is counted at
 * the moment of its interval that is best for the limiter.
 */
final class History {
    /** Between the clock of the callers and that of Redis, in one period. */
    private static final long SLACK_NANOS = 1_000_000;

    private final Limit limit;
    private final long periodNanos;
    private final long maxAgeNanos;
    private final List<Event> admitted;
    /** Admitted calls, and those that may have been. */
    private final List<Event> used;

    private final List<Event> denials;
    private final List<Event> refunds;
    private final List<Event> resets;
    private final Map<Event, Event> refundOf = new HashMap<>();
    private final List<String> faults = new ArrayList<>();

    private History(List<Event> events, long maxAgeNanos) {
        this.limit = events.get(0).limit();
        this.periodNanos = limit.periodMicros() * 1_000;
        this.maxAgeNanos = maxAgeNanos;
        events.sort(Comparator.comparingLong(Event::startNanos));
        this.admitted = events.stream().filter(one -> one.isTake(Answer.DONE)).toList();
        this.used = events.stream()
                .filter(one -> one.isTake(Answer.DONE) || one.isTake(Answer.UNKNOWN))
                .toList();
        this.denials = events.stream().filter(Event::isDenial).toList();
        this.refunds = events.stream().filter(one -> one.kind() == Kind.REFUND).toList();
        this.resets = events.stream().filter(one -> one.kind() == Kind.RESET).toList();
        refunds.forEach(refund -> refundOf.put(refund.of(), refund));
    }

    /**
     * What can't be explained by any order of the calls.
     *
     * @param maxAgeNanos how long a denial from memory may be behind what another instance has given back
     */
    static List<String> judge(List<Event> events, long maxAgeNanos) {
        Map<String, List<Event>> byKey = new HashMap<>();
        for (Event event : events) {
            byKey.computeIfAbsent(event.limit() + " " + event.client(), key -> new ArrayList<>())
                    .add(event);
        }
        List<String> faults = new ArrayList<>();
        for (List<Event> ofKey : byKey.values()) {
            History history = new History(ofKey, maxAgeNanos);
            history.judge();
            faults.addAll(history.faults);
        }
        return faults;
    }

    private void judge() {
        if (isWindow() && refunds.isEmpty() && resets.isEmpty()) {
            if (isCalendar()) {
                judgeTurns();
            } else {
                judgeWindows();
            }
        } else {
            judgeAdmissions();
        }
        denials.stream().filter(this::hadRoom).forEach(denial -> faults.add("denied with room left: " + denial));
    }

    /** The sum of what was certainly admitted within any time that is short enough, and not given back or forgotten. */
    private void judgeAdmissions() {
        for (int i = 0; i < admitted.size(); i++) {
            long from = admitted.get(i).startNanos();
            long until = resets.stream()
                    .filter(reset -> reset.endNanos() >= from)
                    .mapToLong(Event::startNanos)
                    .min()
                    .orElse(Long.MAX_VALUE);
            long sum = 0;
            for (Event call : from(i)) {
                boolean counts = isBucket() || call.endNanos() - from < periodNanos - SLACK_NANOS;
                // What is given back to a bucket can be taken again, whenever it had been taken.
                if (counts && call.endNanos() < until && (isBucket() || !refundOf.containsKey(call))) {
                    sum += call.permits();
                    long back = isBucket() || isCalendar() ? backWithin(from, call.endNanos()) : 0;
                    check(sum - back, mostWithin(call.endNanos() - from), admitted.get(i), call);
                }
            }
        }
    }

    /** The i-th admitted call and those in the two periods from its start on, in the order of their ends. */
    private List<Event> from(int i) {
        int end = i;
        while (end < admitted.size()
                && admitted.get(end).startNanos() < admitted.get(i).startNanos() + 2 * periodNanos) {
            end++;
        }
        List<Event> calls = new ArrayList<>(admitted.subList(i, end));
        calls.sort(Comparator.comparingLong(Event::endNanos));
        return calls;
    }

    /**
     * What may have been given back meanwhile. A window of the calendar ends at the same time before and after a reset, so
     * what was taken before it may be given back after it once more.
     */
    private long backWithin(long fromNanos, long untilNanos) {
        return refunds.stream()
                .filter(refund -> refund.startNanos() <= untilNanos && refund.endNanos() >= fromNanos)
                .filter(refund -> isBucket() || isResetBetween(refund.of(), refund))
                .mapToLong(Event::permits)
                .sum();
    }

    private long mostWithin(long nanos) {
        if (isBucket()) {
            return limit.burst() + refilled(nanos + SLACK_NANOS);
        }
        // The end of one fixed window and the beginning of the next.
        return isWindow() ? 2 * limit.permits() : limit.permits();
    }

    /**
     * A window opens with an admitted call. When it ends is known as exactly as when that was, and so on; a pause of the
     * callers makes it exact again.
     */
    private void judgeWindows() {
        long earliestEnd = Long.MIN_VALUE;
        long latestEnd = Long.MIN_VALUE;
        while (true) {
            long lo = earliestEnd;
            long hi = latestEnd;
            List<Event> mayOpen =
                    admitted.stream().filter(call -> call.endNanos() >= lo).toList();
            long latestStart = admitted.stream()
                    .filter(call -> call.startNanos() >= hi)
                    .mapToLong(Event::endNanos)
                    .min()
                    .orElse(Long.MAX_VALUE);
            if (latestStart == Long.MAX_VALUE) {
                return;
            }
            Event first = mayOpen.get(0);
            long earliestStart = Math.max(lo, first.startNanos());
            long least = Long.MAX_VALUE;
            long sum = 0;
            Event last = first;
            for (Event call : mayOpen) {
                if (call.startNanos() <= latestStart) {
                    least = Math.min(least, call.permits());
                } else if (call.endNanos() < earliestStart + periodNanos - SLACK_NANOS) {
                    sum += call.permits();
                    last = call;
                }
            }
            check(least + sum, limit.permits(), first, last);
            earliestEnd = earliestStart + periodNanos - SLACK_NANOS;
            latestEnd = latestStart + periodNanos + SLACK_NANOS;
        }
    }

    /** What was certainly admitted between two turns of the calendar, which are whole periods of the wall clock. */
    private void judgeTurns() {
        long aheadNanos = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
        Map<Long, Long> sums = new HashMap<>();
        for (Event call : admitted) {
            long window = Math.floorDiv(call.startNanos() + aheadNanos - 3 * SLACK_NANOS, periodNanos);
            if (window == Math.floorDiv(call.endNanos() + aheadNanos + 3 * SLACK_NANOS, periodNanos)) {
                check(sums.merge(window, call.permits(), Long::sum), limit.permits(), call, call);
            }
        }
    }

    private void check(long sum, long most, Event first, Event last) {
        if (sum > most) {
            faults.add(sum + " instead of " + most + " admitted from " + first + " to " + last);
        }
    }

    /** Whether the denied call would have had room at each moment, had all calls taken that may have by then. */
    private boolean hadRoom(Event denial) {
        long spare = limit.capacity() - denial.permits();
        if (spare < 0) {
            return false;
        }
        long sum = 0;
        List<Event> before = used.stream()
                .filter(call -> call.startNanos() <= denial.endNanos() && !isGone(call, denial))
                .sorted(Comparator.comparingLong(Event::endNanos).reversed())
                .toList();
        for (Event call : before) {
            long agoNanos = denial.startNanos() - call.endNanos() - SLACK_NANOS;
            if (!isBucket() && agoNanos > periodNanos) {
                break;
            }
            sum += call.permits();
            if (sum - (isBucket() ? refilled(Math.max(0, agoNanos)) : 0) > spare) {
                return false;
            }
        }
        return true;
    }

    /** Whether the call was certainly given back or forgotten before the denial, as far as the denial has to know. */
    private boolean isGone(Event call, Event denial) {
        Event refund = refundOf.get(call);
        if (refund != null && !isBucket() && refund.answer() == Answer.DONE && isKnown(refund, denial)) {
            return true;
        }
        return resets.stream()
                .anyMatch(reset -> reset.answer() == Answer.DONE
                        && call.endNanos() < reset.startNanos()
                        && isKnown(reset, denial));
    }

    private boolean isKnown(Event change, Event denial) {
        boolean excused = denial.answer() == Answer.REMEMBERED && change.instance() != denial.instance();
        return change.endNanos() < denial.startNanos() - (excused ? maxAgeNanos : 0);
    }

    /** Whether its window starts with the first call; of members, each of which is asked for once. */
    private boolean isWindow() {
        return limit.algorithm() == Algorithm.FIXED_WINDOW || limit.algorithm() == Algorithm.DISTINCT;
    }

    private boolean isResetBetween(@Nullable Event taken, Event refund) {
        return taken != null
                && resets.stream()
                        .anyMatch(reset ->
                                reset.startNanos() <= refund.endNanos() && reset.endNanos() >= taken.startNanos());
    }

    private boolean isCalendar() {
        return limit.isAligned();
    }

    private boolean isBucket() {
        return limit.algorithm() == Algorithm.TOKEN_BUCKET;
    }

    private long refilled(long nanos) {
        return nanos * limit.permits() / periodNanos;
    }
}
