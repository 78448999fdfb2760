package io.limiter.faults;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.application.Limiter;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Uses keys up until they are denied, and resets them, by one instance or the other. Used by one thread. */
final class Resets {
    /** As long as a denial is remembered that another instance has made void. */
    private static final long MAX_AGE_NANOS = 1_000_000_000;

    private final Limiter own;
    private final Limiter other;
    private final Deque<Reset> byOther = new ArrayDeque<>();
    private int resets;

    private record Reset(Charge charge, long atNanos) {}

    Resets(Limiter own, Limiter other) {
        this.own = own;
        this.other = other;
    }

    /** A charge to a key whose denial its own instance must not remember any more; null if there is none now. */
    @Nullable
    Charge next(String client) {
        Reset known = byOther.peekFirst();
        if (known != null && System.nanoTime() - known.atNanos > MAX_AGE_NANOS) {
            return byOther.removeFirst().charge;
        }
        Charge charge = Load.charge(own, "again", client, 1);
        own.rateLimiter().tryAcquire(charge.policy(), charge.key(), 1);
        own.rateLimiter().tryAcquire(charge.policy(), charge.key(), 1);
        boolean isByOther = resets++ % 2 == 0;
        try {
            (isByOther ? other : own).rateLimiter().reset(charge.policy(), charge.key());
        } catch (BackendException noAnswer) {
            // Nobody knows whether it is reset.
            return null;
        }
        if (isByOther) {
            byOther.addLast(new Reset(charge, System.nanoTime()));
            return null;
        }
        return charge;
    }
}
