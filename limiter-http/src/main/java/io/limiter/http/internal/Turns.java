package io.limiter.http.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/** Runs the tasks of clients in turn, a few at once: the many of one client do not delay those of others. Thread-safe. */
final class Turns {
    private final Executor threads;
    private final Shares running;
    /** The client that has had no turn for the longest time is the first one. */
    private final Map<String, Deque<Runnable>> waiting = new LinkedHashMap<>();

    /** Turns on threads that are always free for {@code atOnce} tasks; a client has at most half of them. */
    Turns(Executor threads, int atOnce) {
        this.threads = threads;
        this.running = new Shares(atOnce, 2);
    }

    /** Runs a task when it is the client's turn. */
    synchronized void execute(String client, Runnable task) {
        waiting.computeIfAbsent(client, one -> new ArrayDeque<>()).add(task);
        while (begins()) {}
    }

    private synchronized boolean begins() {
        for (Map.Entry<String, Deque<Runnable>> one : waiting.entrySet()) {
            String client = one.getKey();
            if (running.tryTake(client)) {
                Deque<Runnable> tasks = one.getValue();
                Runnable task = tasks.remove();
                waiting.remove(client);
                if (!tasks.isEmpty()) {
                    waiting.put(client, tasks);
                }
                try {
                    threads.execute(() -> run(client, task));
                } catch (OutOfMemoryError noThread) {
                    // It waits for the end of another one, or for the next one that comes.
                    running.free(client);
                    tasks.addFirst(task);
                    waiting.put(client, tasks);
                    return false;
                }
                return true;
            }
        }
        return false;
    }

    private void run(String client, Runnable task) {
        try {
            task.run();
        } finally {
            running.free(client);
            while (begins()) {}
        }
    }
}
