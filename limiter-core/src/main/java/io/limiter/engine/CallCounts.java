package io.limiter.engine;

import io.limiter.Decision;
import io.limiter.LimiterMonitor.FlightCount;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
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
    /** How many numbers a policy has: at last one for each {@link FlightCount}. */
    static final int OF_POLICY = IN_FLIGHT + 1 + FlightCount.values().length;

    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int THREADS = 64;
    /** Longs between the numbers of two threads, so that they are in different cache lines. */
    private static final int PADDING = 8;

    /** What one thread has counted. */
    private static final class Own extends WeakReference<Thread> {
        final long[] counts;

        Own(Thread thread, long[] counts) {
            super(thread);
            this.counts = counts;
        }
    }

    private final AtomicReferenceArray<@Nullable Own> own = new AtomicReferenceArray<>(THREADS);
    private final LongAdder[] others;

    CallCounts(int numbers) {
        others = Stream.generate(LongAdder::new).limit(numbers).toArray(LongAdder[]::new);
    }

    /** Counts what a policy decided, and permits in flight that it holds. */
    void count(Decision decision, long permits) {
        add(number(decision.source(), decision.allowed()), 1, permits);
    }

    static int number(Decision.Source source, boolean isAllowed) {
        return source.ordinal() * 2 + (isAllowed ? 1 : 0);
    }

    static int number(FlightCount what) {
        return IN_FLIGHT + 1 + what.ordinal();
    }

    void increment(int number) {
        add(number, 1);
    }

    void add(int number, long more) {
        add(number, more, 0);
    }

    /** For two numbers the thread is looked up once. */
    private void add(int number, long more, long permits) {
        Thread thread = Thread.currentThread();
        int slot = (int) thread.getId() & THREADS - 1;
        Own mine = own.getAcquire(slot);
        if (mine != null && mine.refersTo(thread)) {
            COUNT.setOpaque(mine.counts, number, mine.counts[number] + more);
            if (permits != 0) {
                COUNT.setOpaque(mine.counts, IN_FLIGHT, mine.counts[IN_FLIGHT] + permits);
            }
            return;
        }
        if (mine != null || !own.compareAndSet(slot, null, first(thread, number, more))) {
            others[number].add(more);
        }
        if (permits != 0) {
            add(IN_FLIGHT, permits);
        }
    }

    private Own first(Thread thread, int number, long more) {
        long[] counts = new long[others.length + PADDING];
        counts[number] = more;
        return new Own(thread, counts);
    }

    long sum(int number) {
        long sum = others[number].sum();
        for (int i = 0; i < THREADS; i++) {
            Own one = own.get(i);
            sum += one == null ? 0 : (long) COUNT.getOpaque(one.counts, number);
        }
        return sum;
    }
}
