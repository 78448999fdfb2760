package io.limiter.benchmark.redis;

import io.limiter.benchmark.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Callers that ask without a pause until they are closed. */
final class Callers implements AutoCloseable {
    private final Contender contender;
    private final int[] keys;
    private final AtomicBoolean complained = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private volatile @Nullable Samples samples;
    private volatile boolean closed;

    private Callers(Contender contender, int[] keys) {
        this.contender = contender;
        this.keys = keys;
    }

    /** So many threads, each with one call at a time. */
    static Callers blocking(Contender contender, int[] keys, int count) {
        Callers callers = new Callers(contender, keys);
        for (int i = 0; i < count; i++) {
            int first = keys.length / count * i;
            callers.threads.add(new Thread(() -> callers.block(first), "caller-" + i));
        }
        callers.threads.forEach(Thread::start);
        return callers;
    }

    /** One thread that asks, and so many calls at a time. */
    static Callers async(Contender contender, int[] keys, int inFlight) {
        Callers callers = new Callers(contender, keys);
        callers.threads.add(new Thread(() -> callers.ask(inFlight), "caller"));
        callers.threads.forEach(Thread::start);
        return callers;
    }

    /** Where answers are counted that come from now on; null for nowhere. */
    void sampleInto(@Nullable Samples next) {
        samples = next;
    }

    private void block(int first) {
        for (int i = first; !closed; i++) {
            long start = System.nanoTime();
            int answer;
            try {
                answer = contender.ask(keys[i & keys.length - 1]);
            } catch (RuntimeException e) {
                answer = failed(e);
            }
            count(start, answer);
        }
    }

    private void ask(int inFlight) {
        Semaphore room = new Semaphore(inFlight);
        for (int i = 0; !closed; i++) {
            room.acquireUninterruptibly();
            long start = System.nanoTime();
            contender.askAsync(keys[i & keys.length - 1]).whenComplete((answer, failure) -> {
                count(start, failure == null ? answer : failed(failure));
                room.release();
            });
        }
        // The last answers: the contender is closed after this.
        room.acquireUninterruptibly(inFlight);
    }

    private void count(long start, int answer) {
        Samples now = samples;
        if (now != null) {
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
