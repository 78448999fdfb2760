package io.limiter.spring.boot;

import io.limiter.http.internal.Holding;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/** Denies the requests that filters hold before the web server begins to stop, which would wait for them or drop them. */
final class HeldRequestsLifecycle implements SmartLifecycle {
    private final Supplier<List<? extends Holding>> filters;
    private volatile List<? extends Holding> running = List.of();

    /** For the filters that there are at the start. */
    HeldRequestsLifecycle(Supplier<List<? extends Holding>> filters) {
        this.filters = filters;
    }

    @Override
    public void start() {
        running = filters.get();
        running.forEach(Holding::startHolding);
    }

    @Override
    public void stop() {
        List<? extends Holding> stopping = running;
        running = List.of();
        // In parallel: each of them waits until its answers are written.
        stopping.stream()
                .map(door ->
                        CompletableFuture.runAsync(door::stopHolding, task -> new Thread(task, "limiter-stop").start()))
                .toList()
                .forEach(CompletableFuture::join);
    }

    @Override
    public boolean isRunning() {
        return !running.isEmpty();
    }
}
