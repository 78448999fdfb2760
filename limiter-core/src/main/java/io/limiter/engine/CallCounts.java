package io.limiter.engine;

import io.limiter.Decision;
import io.limiter.LimiterMonitor.HoldCount;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A few counters that many threads increment. Exact and thread-safe. The first threads have counters of their own, so
 * that they need no atomic operation, which would dominate the cost of a decision in this JVM. All other threads share
 * a {@link LongAdder}.
 */
final class CallCounts {
    /** The number of the denials because of a block; before it those of each {@linkplain #number source}. */
    static final int BLOCKED = Decision.Source.values().length * 2;
    /** The number of permits in flight. */
    static final int IN_FLIGHT = BLOCKED + 1;
    /** The number of permits that are reserved. */
    static final int HELD = IN_FLIGHT + 1;

    private static final int HOLDS = HELD + 1;
    /** How many numbers a policy has: at last one for each {@link HoldCount}. */
    static final int OF_POLICY = HOLDS + HoldCount.values().length;

    private static final VarHandle OWN = MethodHandles.arrayElementVarHandle(long[][].class);
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int THREADS = 64;
    /** Longs between the numbers of two threads, so that they are in different cache lines. */
    private static final int PADDING = 8;

    /** What each of the first threads has counted, after the id of the thread. */
    private final long @Nullable [][] own = new long[THREADS][];

    private final LongAdder[] others;

    CallCounts(int numbers) {
        others = Stream.generate(LongAdder::new).limit(numbers).toArray(LongAdder[]::new);
    }

    /** Counts what a policy decided. */
    void count(Decision decision) {
        add(number(decision.source(), decision.allowed()), 1);
    }

    static int number(Decision.Source source, boolean isAllowed) {
        return source.ordinal() * 2 + (isAllowed ? 1 : 0);
    }

    static int number(HoldCount what) {
        return HOLDS + what.ordinal();
    }

    void add(int number, long more) {
        add(ofThisThread(), number, more);
    }

    /** The numbers that only this thread changes, for {@link #add(long[], int, long)}; null if it has none. */
    long @Nullable [] ofThisThread() {
        long thread = Thread.currentThread().getId();
        int slot = (int) thread & THREADS - 1;
        long[] counts = (long[]) OWN.getAcquire(own, slot);
        if (counts != null) {
            return counts[0] == thread ? counts : null;
        }
        long[] first = new long[1 + others.length + PADDING];
        first[0] = thread;
        return OWN.compareAndSet(own, slot, null, first) ? first : null;
    }

    /** @param counts those of this thread */
    void add(long @Nullable [] counts, int number, long more) {
        if (counts == null) {
            others[number].add(more);
        } else {
            COUNT.setOpaque(counts, number + 1, counts[number + 1] + more);
        }
    }

    long sum(int number) {
        long sum = others[number].sum();
        for (int i = 0; i < THREADS; i++) {
            long[] one = (long[]) OWN.getAcquire(own, i);
            sum += one == null ? 0 : (long) COUNT.getOpaque(one, number + 1);
        }
        return sum;
    }
}
