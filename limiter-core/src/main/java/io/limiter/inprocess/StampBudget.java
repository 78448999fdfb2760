package io.limiter.inprocess;

import java.util.concurrent.atomic.AtomicLong;

/** How many stamps all logs of a table may hold together. Thread-safe. */
final class StampBudget {
    private final long most;
    private final AtomicLong held = new AtomicLong();

    StampBudget(long most) {
        this.most = most;
    }

    /** Whether there is room for so many more. */
    boolean hasLeft(long stamps) {
        return held.get() + stamps <= most;
    }

    boolean isHalfSpent() {
        return held.get() >= most / 2;
    }

    /** Takes room for more stamps, all or none. */
    boolean take(long stamps) {
        while (true) {
            long now = held.get();
            if (now + stamps > most) {
                return false;
            }
            if (held.compareAndSet(now, now + stamps)) {
                return true;
            }
        }
    }

    void give(long stamps) {
        held.addAndGet(-stamps);
    }

    long held() {
        return held.get();
    }
}
