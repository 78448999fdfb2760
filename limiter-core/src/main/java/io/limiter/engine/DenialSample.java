package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The denials that some of the threads record: those of the current period and of the one before. Decides whether a
 * flood requires sampling. Thread-safe.
 */
final class DenialSample {
    /** The number of denials that a recorded one represents in a flood. */
    static final int SAMPLED = 64;

    /** A key is counted for one to two of these. */
    static final long PERIOD_MICROS = 600_000_000;

    /** The hash of a longer key is kept instead; only code makes such keys. */
    static final int LONGEST_KEY = 512;

    private static final long WINDOW_MICROS = 10_000;
    private static final int MOST_IN_WINDOW = 100;

    private final ReentrantLock lock = new ReentrantLock();
    private final int keys;
    private DeniedKeys present;
    private DeniedKeys before;
    private long periodStart;
    private long windowStart;
    private int inWindow;
    private boolean busy;
    /** How many denials are still left out. Concurrent writes make it slightly inexact, which is harmless. */
    private int skips;

    /** @param keys how many keys are kept for each of the two periods */
    DenialSample(int keys, long nowMicros) {
        this.keys = keys;
        this.present = new DeniedKeys(keys);
        this.before = new DeniedKeys(keys);
        this.periodStart = nowMicros;
        this.windowStart = nowMicros;
    }

    /** Whether the next denial is not recorded. Takes no lock. */
    boolean leavesOut() {
        return --skips >= 0;
    }

    /**
     * Records a denial, unless another thread records one at this moment: no thread waits for this.
     *
     * @return how many denials it counted as; 0 if it was left out
     */
    int add(Decision denial, boolean shadow, long now) {
        if (!lock.tryLock()) {
            return 0;
        }
        try {
            int denials = busy ? SAMPLED : 1;
            watch(denials, now);
            if (keys > 0) {
                turn(now);
                count(denial, shadow, denials, now);
            }
            skips = ThreadLocalRandom.current().nextInt(busy ? 2 * SAMPLED - 1 : 1);
            return denials;
        } finally {
            lock.unlock();
        }
    }

    /** Adds all that is known. */
    void addTo(Map<DeniedKeys.Id, DeniedKeys.Entry> sum, long now) {
        lock.lock();
        try {
            turn(now);
            for (DeniedKeys keysOfPeriod : List.of(present, before)) {
                keysOfPeriod.entries().forEach(entry -> sum.merge(entry.id(), entry, DeniedKeys.Entry::plus));
            }
        } finally {
            lock.unlock();
        }
    }

    private void watch(int denials, long now) {
        if (now - windowStart >= WINDOW_MICROS) {
            // A window that ended long ago was followed by quiet ones.
            busy = inWindow > MOST_IN_WINDOW && now - windowStart < 2 * WINDOW_MICROS;
            windowStart = now;
            inWindow = 0;
        }
        inWindow += denials;
        busy |= inWindow > MOST_IN_WINDOW;
    }

    private void turn(long now) {
        if (now - periodStart >= PERIOD_MICROS) {
            before = now - periodStart < 2 * PERIOD_MICROS ? present : new DeniedKeys(keys);
            present = new DeniedKeys(keys);
            periodStart = now;
        }
    }

    /** A charge that two limits deny counts once, with the longer wait. */
    private void count(Decision denial, boolean shadow, int denials, long now) {
        Map<Charge, LimitOutcome> longest = new HashMap<>();
        for (LimitOutcome outcome : denial.violated()) {
            longest.merge(outcome.charge(), outcome, DenialSample::longer);
        }
        for (Charge charge : longest.isEmpty() ? denial.charges() : longest.keySet()) {
            LimitOutcome by = longest.get(charge);
            present.add(new DeniedKeys.Entry(
                    new DeniedKeys.Id(charge.policy().name(), bounded(charge.key()), shadow),
                    denials,
                    0,
                    denial.source(),
                    by == null ? null : by.limit(),
                    by == null ? denial.retryAfterMicros() : by.retryAfterMicros(),
                    now));
        }
    }

    private static LimitOutcome longer(LimitOutcome one, LimitOutcome other) {
        // As unsigned numbers NEVER, which is -1, is the longest.
        return Long.compareUnsigned(one.retryAfterMicros(), other.retryAfterMicros()) < 0 ? other : one;
    }

    /** The key, or where that is very long its hash. */
    static PartitionKey bounded(PartitionKey key) {
        return key.canonical().length() <= LONGEST_KEY ? key : PartitionKey.of(key.canonical());
    }
}
