package io.limiter.benchmark.redis;

import io.limiter.benchmark.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Callers that make calls until they are closed: in a closed loop without a pause, or at a fixed rate. At a fixed rate
 * the time of a
 * call begins when it was due, even if its caller was still busy with the one before.
 */
final class Callers implements AutoCloseable {
    private static final long LONGEST_PARK_NANOS = 10_000_000;

    private final Contender contender;
    private final int[] keys;
    private final int sampledFrom;
    private final Shape shape;
    private final AtomicBoolean complained = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private volatile @Nullable Samples samples;
    private final AtomicInteger windows = new AtomicInteger();
    private volatile boolean closed;

    /**
     * How the callers make calls.
     *
     * @param kind {@code async-} if one thread makes calls without blocking, {@code virtual-} for virtual threads, or empty
     * @param count the number of threads with one call each, or of concurrent calls of that one thread
     * @param perSecond how many calls begin in a second, of all callers; 0 in a closed loop
     */
    private record Shape(String kind, int count, double perSecond) {
        /** Of {@code 64}, {@code virtual-64}, {@code async-512}, or one of these with a rate, such as {@code 64@20000}. */
        static Shape of(String text) {
            String[] parts = text.split("@", -1);
            String kind = parts[0].substring(0, parts[0].indexOf('-') + 1);
            return new Shape(
                    kind,
                    Integer.parseInt(parts[0].substring(kind.length())),
                    parts.length == 1 ? 0 : Double.parseDouble(parts[1]));
        }

        boolean isAsync() {
            return kind.equals("async-");
        }

        /** A thread that has not started. */
        Thread thread(Runnable task) {
            if (!kind.equals("virtual-")) {
                return new Thread(task, "caller");
            }
            try {
                // Of Java 21.
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                return (Thread) Class.forName("java.lang.Thread$Builder")
                        .getMethod("unstarted", Runnable.class)
                        .invoke(builder, task);
            } catch (ReflectiveOperationException earlier) {
                throw new IllegalArgumentException("virtual threads need Java 21 or later", earlier);
            }
        }
    }

    private Callers(Contender contender, Workload workload, Shape shape) {
        this.contender = contender;
        this.keys = workload.draw().get();
        this.sampledFrom = workload.sampledFrom();
        this.shape = shape;
    }

    /**
     * Starts them.
     *
     * @param samples where answers are counted; null for nowhere
     */
    static Callers start(Contender contender, Workload workload, String shape, @Nullable Samples samples) {
        Callers callers = new Callers(contender, workload, Shape.of(shape));
        callers.sampleInto(samples);
        int threads = callers.shape.isAsync() ? 1 : callers.shape.count;
        for (int i = 0; i < threads; i++) {
            int first = callers.keys.length / threads * i;
            Pace pace = callers.new Pace(threads);
            callers.threads.add(callers.shape.thread(() -> {
                if (callers.shape.isAsync()) {
                    callers.ask(pace);
                } else {
                    callers.block(first, pace);
                }
            }));
        }
        callers.threads.forEach(Thread::start);
        return callers;
    }

    /**
     * Sets where later answers are counted; null for nowhere. At a fixed rate, late calls of the warm-up are dropped.
     */
    void sampleInto(@Nullable Samples next) {
        if (next != null) {
            windows.incrementAndGet();
        }
        samples = next;
    }

    /** When the calls of a thread begin. The first one of a window is anywhere in the gap, so the threads don't march in step. */
    private final class Pace {
        private final double gapNanos;
        private double due;
        private int window = -1;

        Pace(int threads) {
            gapNanos = shape.perSecond == 0 ? 0 : threads * 1e9 / shape.perSecond;
        }

        /** Waits for the next call, and returns when it begins. */
        long next() {
            if (gapNanos == 0) {
                return System.nanoTime();
            }
            int now = windows.get();
            due = window == now
                    ? due + gapNanos
                    : System.nanoTime() + gapNanos * ThreadLocalRandom.current().nextDouble();
            window = now;
            for (double left = due - System.nanoTime(); left > 0 && !closed; left = due - System.nanoTime()) {
                LockSupport.parkNanos((long) Math.min(left, LONGEST_PARK_NANOS));
            }
            return (long) due;
        }
    }

    private void block(int first, Pace pace) {
        for (int i = first; !closed; i++) {
            long start = pace.next();
            int key = keys[i & keys.length - 1];
            int answer;
            try {
                answer = contender.ask(key);
            } catch (RuntimeException e) {
                answer = failed(e);
            }
            count(key, start, answer);
        }
    }

    private void ask(Pace pace) {
        Semaphore room = new Semaphore(shape.count);
        for (int i = 0; !closed; i++) {
            room.acquireUninterruptibly();
            long start = pace.next();
            int key = keys[i & keys.length - 1];
            contender.askAsync(key).whenComplete((answer, failure) -> {
                count(key, start, failure == null ? answer : failed(failure));
                room.release();
            });
        }
        // The last answers: the contender is closed after this.
        room.acquireUninterruptibly(shape.count);
    }

    private void count(int key, long start, int answer) {
        Samples now = samples;
        if (now != null && key >= sampledFrom) {
            now.add(System.nanoTime() - start, answer);
        }
    }

    private int failed(Throwable failure) {
        if (!complained.getAndSet(true)) {
            System.err.println("the first failure: " + failure);
        }
        return Contender.FAILED;
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
