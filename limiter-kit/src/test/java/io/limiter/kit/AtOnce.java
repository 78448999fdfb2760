package io.limiter.kit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Work of many threads at the same time. What one of them throws is thrown. */
public final class AtOnce {
    private AtOnce() {}

    /** What one thread does. */
    public interface Work<T> {
        T call(int thread) throws Exception;
    }

    /** What one thread does that returns nothing. */
    public interface Action {
        void run(int thread) throws Exception;
    }

    /** Each thread has one piece of work, and all begin together; what they return, in their order. */
    public static <T> List<T> call(int threads, Work<T> work) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        return all(
                threads,
                IntStream.range(0, threads)
                        .mapToObj(thread -> (Callable<T>) () -> {
                            start.await();
                            return work.call(thread);
                        })
                        .toList());
    }

    public static void run(int threads, Action work) throws Exception {
        call(threads, thread -> {
            work.run(thread);
            return thread;
        });
    }

    /** More calls than threads; what they return, in their order. */
    public static <T> List<T> all(int threads, Collection<? extends Callable<T>> calls) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> one : executor.invokeAll(calls)) {
                results.add(one.get());
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }
}
