package io.limiter.history;

import io.limiter.Limit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * All calls on one key whose policy has a block, and the judgement of them. It never accuses an exact limiter: each call is counted
 * at the moment of its interval that is best for the limiter.
 */
record BlockHistory(Limit block, List<Seen> calls) {
    /** Between the clock of the callers and that of Redis, in one block. */
    private static final long SLACK_NANOS = 1_000_000;

    /**
     * One call as its caller saw it; a reset is one that is not denied and not allowed.
     *
     * @param known whether the answer is a denial from memory
     * @param leftNanos of a blocked call, how long the block lasts from the moment of the answer on
     */
    record Seen(
            long startNanos,
            long endNanos,
            boolean allowed,
            boolean denied,
            boolean blocked,
            boolean known,
            long leftNanos) {
        boolean isBlockedByRedis() {
            return blocked && !known;
        }

        boolean isReset() {
            return !allowed && !denied;
        }
    }

    /** What can't be explained by any order of the calls. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        calls.sort(Comparator.comparingLong(Seen::startNanos));
        admittedWhileBlocked(faults);
        blockedTooEarly(faults);
        notBlocked(faults);
        return faults;
    }

    /** A block lasts until its end, whatever is asked in between, unless it is lifted. */
    private void admittedWhileBlocked(List<String> faults) {
        for (Seen block : calls.stream().filter(Seen::isBlockedByRedis).toList()) {
            for (Seen call : calls) {
                boolean during = call.startNanos > block.endNanos
                        && call.endNanos < block.startNanos + block.leftNanos - SLACK_NANOS;
                if (call.allowed && during && !isResetBetween(block.startNanos, call.endNanos)) {
                    faults.add("admitted while blocked: " + call + " after " + block);
                }
            }
        }
    }

    /** Each block needs as many denials as its limit has; the last of them is blocked already. */
    private void blockedTooEarly(List<String> faults) {
        long blocks = 0;
        long until = Long.MIN_VALUE;
        for (Seen one : calls.stream().filter(Seen::isBlockedByRedis).toList()) {
            blocks += one.startNanos > until + SLACK_NANOS ? 1 : 0;
            until = Math.max(until, one.endNanos + one.leftNanos);
            long denials = calls.stream()
                    .filter(call -> call.denied && !call.blocked && call.startNanos <= one.endNanos)
                    .count();
            if (denials < blocks * (block.permits() - 1)) {
                faults.add("blocked " + blocks + " times after " + denials + " denials: " + one);
                return;
            }
            if (one.leftNanos > block.untilMicros() * 1_000) {
                faults.add("blocked for too long: " + one);
            }
        }
    }

    /** Of this number of denials within one period, one window has enough. */
    private void notBlocked(List<String> faults) {
        int enough = Math.toIntExact(2 * block.permits() - 1);
        List<Seen> denials = calls.stream()
                .filter(call -> call.denied && !call.blocked && !call.known)
                .toList();
        for (int i = 0; i + enough <= denials.size(); i++) {
            long from = denials.get(i).startNanos;
            long until = denials.subList(i, i + enough).stream()
                    .mapToLong(Seen::endNanos)
                    .max()
                    .orElseThrow();
            if (until - from < block.periodMicros() * 1_000 - SLACK_NANOS && !isResetBetween(from, until)) {
                faults.add("not blocked after " + enough + " denials from " + denials.get(i));
                return;
            }
        }
    }

    private boolean isResetBetween(long fromNanos, long untilNanos) {
        return calls.stream()
                .anyMatch(call -> call.isReset() && call.startNanos <= untilNanos && call.endNanos >= fromNanos);
    }
}
