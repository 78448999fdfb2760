package io.limiter.example.fair.worker;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The workers of one system that this instance has started: a few places, each with a worker or free. Thread-safe. */
public final class Workers implements AutoCloseable {
    private final int places;
    private final IntFunction<WorkerProcess> start;
    private final Map<Integer, WorkerProcess> running = new LinkedHashMap<>();

    /**
     * @param places how many workers may run at once
     * @param start starts the worker of a place, 1 and up
     */
    public Workers(int places, IntFunction<WorkerProcess> start) {
        this.places = places;
        this.start = start;
    }

    /**
     * Starts a worker in the first free place.
     *
     * @throws IllegalArgumentException if there is none
     */
    public synchronized long start() {
        forgetEnded();
        for (int place = 1; place <= places; place++) {
            if (!running.containsKey(place)) {
                WorkerProcess worker = start.apply(place);
                running.put(place, worker);
                return worker.pid();
            }
        }
        throw new IllegalArgumentException(places + " workers run already; kill one first");
    }

    /** The processes that run, the oldest first. */
    public List<Long> pids() {
        return all().stream().map(WorkerProcess::pid).toList();
    }

    /** The workers that run, the oldest first. */
    public synchronized List<WorkerProcess> all() {
        forgetEnded();
        return List.copyOf(running.values());
    }

    /** kill -9 of the oldest worker; returns what to say. */
    public String kill() {
        return all().stream()
                .findFirst()
                .map(worker -> {
                    worker.kill();
                    return "Process " + worker.pid() + " was killed.";
                })
                .orElse("No worker runs.");
    }

    private void forgetEnded() {
        running.values().removeIf(worker -> !worker.isAlive());
    }

    @Override
    public synchronized void close() {
        running.values().forEach(WorkerProcess::kill);
    }
}
