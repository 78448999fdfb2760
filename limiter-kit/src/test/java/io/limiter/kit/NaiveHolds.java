package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.internal.HoldTerms;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The records of what was reserved of one state, as {@link NaiveLimiter} has it: a list that is searched each time. */
final class NaiveHolds {
    /** One reservation. */
    static final class Hold {
        final long end;
        final Charge charge;
        final Limit limit;
        final HoldTerms terms;
        /** What a refund needs. */
        final long stamp;

        final long idle;
        long purgeAt;
        boolean isOver;
        boolean isSettled;

        Hold(long end, Charge charge, Limit limit, HoldTerms terms, long stamp, long idle) {
            this.end = end;
            this.charge = charge;
            this.limit = limit;
            this.terms = terms;
            this.stamp = stamp;
            this.idle = idle;
            this.purgeAt = end + terms.lifeMicros();
        }

        Hold copy() {
            Hold copy = new Hold(end, charge, limit, terms, stamp, idle);
            copy.purgeAt = purgeAt;
            copy.isOver = isOver;
            copy.isSettled = isSettled;
            return copy;
        }

        boolean isOpen(long now) {
            return !isOver && end > now;
        }
    }

    private static final long LEAST_IDLE = -8_000_000_000_000_000L;

    private List<Hold> all = new ArrayList<>();
    /** How long a bucket lacked nothing, so that its refill went for nothing. */
    private long idle;

    private long idleUntil;
    /** At which rate that was. */
    private @Nullable Limit counted;
    /** The shortest period with which a log was written since it has records. */
    private long shortest;
    /** Whether it was written under another limit while it has records. */
    private boolean hasChanged;

    NaiveHolds copy() {
        NaiveHolds copy = new NaiveHolds();
        all.forEach(one -> copy.all.add(one.copy()));
        copy.idle = idle;
        copy.idleUntil = idleUntil;
        copy.counted = counted;
        copy.shortest = shortest;
        copy.hasChanged = hasChanged;
        return copy;
    }

    /** An end that no other has: one of the first 256, or the one after all. */
    long end(HoldTerms terms, long now) {
        long first = now + terms.ttlMicros();
        return LongStream.range(first, first + 256)
                .filter(end -> known(end) == null)
                .findFirst()
                .orElseGet(() -> all.get(all.size() - 1).end + 1);
    }

    void add(Hold hold) {
        all.add(hold);
        all.sort(Comparator.comparingLong(one -> one.end));
    }

    /** From now on one is kept that was settled after its end. */
    void keepAnew(Hold hold, long now) {
        if (now > hold.end) {
            hold.purgeAt = now + hold.purgeAt - hold.end;
        }
    }

    /** Whether any is kept. */
    boolean areKept(long now) {
        return all.stream().anyMatch(one -> one.purgeAt > now);
    }

    private @Nullable Hold known(long end) {
        return all.stream().filter(one -> one.end == end).findFirst().orElse(null);
    }

    /** The record of that reservation, while it is kept. */
    @Nullable
    Hold find(long end, String id, long now) {
        Hold one = known(end);
        return one == null || !one.terms.id().equals(id) || one.purgeAt <= now ? null : one;
    }

    /** How long until there is room for one more. */
    long waitForRoom(int most, long now) {
        if (all.size() >= most) {
            all.removeIf(one -> one.purgeAt <= now);
        }
        return all.size() < most
                ? 0
                : all.stream().mapToLong(one -> one.purgeAt).min().orElseThrow() - now;
    }

    /** What has run out and was not given back, in the order of the ends. */
    List<Hold> runOut(long now) {
        return all.stream().filter(one -> !one.isOver && one.end <= now).toList();
    }

    /** Whether the limit was this one since there are records. */
    boolean areAllOf(Limit limit, long now) {
        return !areKept(now) || !hasChanged && limit.equals(counted);
    }

    boolean areOpen(long now) {
        return all.stream().anyMatch(one -> one.isOpen(now));
    }

    long held(Limit limit, long now) {
        return Math.min(
                limit.spec().burst(),
                all.stream()
                        .filter(one -> one.isOpen(now))
                        .mapToLong(one -> one.charge.permits())
                        .sum());
    }

    /** When the last one ends that is open. */
    long lastEnd(long now) {
        return all.stream()
                .filter(one -> one.isOpen(now))
                .mapToLong(one -> one.end)
                .max()
                .orElse(now);
    }

    void reset() {
        all.forEach(one -> one.isOver = true);
    }

    /** To be told before the bucket or the log changes. */
    void count(Limit limit, long fullAt, long now) {
        long period = limit.spec().periodMicros();
        shortest = areKept(now) ? Math.min(shortest, period) : period;
        hasChanged = areKept(now) && (hasChanged || !limit.equals(counted));
        if (counted == null || !isOfOneRate(counted, limit)) {
            idle = Math.max(LEAST_IDLE, idle - 200_000_000_000L);
        } else if (idle > LEAST_IDLE) {
            idle += Math.max(0, now - Math.max(idleUntil, fullAt));
        }
        counted = limit;
        idleUntil = Math.max(idleUntil, now);
    }

    private static boolean isOfOneRate(Limit one, Limit other) {
        return product(one.permits(), other.spec().periodMicros())
                .equals(product(other.permits(), one.spec().periodMicros()));
    }

    private static BigInteger product(long one, long other) {
        return BigInteger.valueOf(one).multiply(BigInteger.valueOf(other));
    }

    /** What had left the log then does not come back. */
    boolean isInLog(Hold hold, long now) {
        return hold.stamp > now - shortest;
    }

    /** At which a hold begins; with nothing held the count begins anew. */
    long idle(long now) {
        idle = areOpen(now) ? idle : 0;
        return idle;
    }

    long idleSince(Hold hold) {
        return Math.max(0, idle - hold.idle);
    }

    void useIdle(long micros) {
        idle -= micros;
    }
}
