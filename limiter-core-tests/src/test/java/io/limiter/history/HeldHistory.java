package io.limiter.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All reservations of one key, and the judgment of them: after each that is granted, no more is used and held than the limit. It never
 * accuses an exact limiter: of each other one only what certainly counts then is added.
 */
final class HeldHistory {
    /** Between the clock of the callers and that of Redis, in one hold. */
    private static final long SLACK_NANOS = 2_000_000;

    /** One reservation that was granted, as its caller saw it. Nothing of it leaves the limit while the key is used. */
    static final class Reserved {
        final String key;
        final long permits;
        final long startNanos;
        final long endNanos;
        final long ttlNanos;
        /** When its settlement began and ended; never, if it did not. */
        long settlingNanos = Long.MAX_VALUE;

        long settledNanos = Long.MAX_VALUE;
        long actual;
        long charged;

        Reserved(String key, long permits, long startNanos, long endNanos, long ttlNanos) {
            this.key = key;
            this.permits = permits;
            this.startNanos = startNanos;
            this.endNanos = endNanos;
            this.ttlNanos = ttlNanos;
        }

        /** The least of it that counts at each moment of another call. */
        private long leastAt(Reserved call) {
            if (endNanos > call.startNanos) {
                return 0;
            }
            boolean isOver = startNanos + ttlNanos - SLACK_NANOS <= call.endNanos;
            if (settlingNanos > call.endNanos) {
                return isOver ? 0 : permits;
            }
            if (settledNanos > call.startNanos) {
                return isOver ? 0 : Math.min(permits, actual);
            }
            return charged;
        }

        @Override
        public String toString() {
            return permits + " of " + key + " from " + startNanos + " to " + endNanos;
        }
    }

    private HeldHistory() {}

    /** The reservations that should have been denied. */
    static List<String> judge(List<Reserved> all, long limit) {
        Map<String, List<Reserved>> byKey = new HashMap<>();
        all.forEach(
                one -> byKey.computeIfAbsent(one.key, key -> new ArrayList<>()).add(one));
        List<String> faults = new ArrayList<>();
        for (List<Reserved> ofKey : byKey.values()) {
            ofKey.sort(Comparator.comparingLong(one -> one.endNanos));
            for (Reserved call : ofKey) {
                long sum = call.permits;
                for (Reserved other : ofKey) {
                    sum += other == call ? 0 : other.leastAt(call);
                }
                if (sum > limit) {
                    faults.add(sum + " instead of " + limit + " with " + call);
                }
            }
        }
        return faults;
    }
}
