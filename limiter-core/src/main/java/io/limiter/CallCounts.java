package io.limiter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A few numbers that many threads count up. Exact, and thread-safe. The first threads have numbers of their own, which nobody
 * else writes, so that counting takes no atomic operation: those are what is left of the cost of a decision in this JVM. All other
 * threads share a {@link LongAdder}.
 */
final class CallCounts {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int THREADS = 64;
    /** Longs between the numbers of two threads, so that they are in different cache lines. */
    private static final int PADDING = 8;

    /** What one thread has counted; its id, because the thread itself would keep its class loader. */
    private record Own(long threadId, long[] counts) {}

    private final AtomicReferenceArray<@Nullable Own> own = new AtomicReferenceArray<>(THREADS);
    private final LongAdder[] others;

    CallCounts(int numbers) {
        others = Stream.generate(LongAdder::new).limit(numbers).toArray(LongAdder[]::new);
    }

    void increment(int number) {
        long id = Thread.currentThread().getId();
        int slot = (int) id & THREADS - 1;
        Own mine = own.getAcquire(slot);
        if (mine != null && mine.threadId == id) {
            COUNT.setOpaque(mine.counts, number, mine.counts[number] + 1);
        } else if (mine != null || !own.compareAndSet(slot, null, first(id, number))) {
            others[number].increment();
        }
    }

    private Own first(long id, int number) {
        long[] counts = new long[others.length + PADDING];
        counts[number] = 1;
        return new Own(id, counts);
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
