package io.limiter.spring.boot.internal;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Denies the requests that filters hold before the web server begins to stop, which would wait for them or drop them.
 *
 * @param <F> the type of filters
 */
public final class HeldRequestsLifecycle<F> implements SmartLifecycle {
    private final Supplier<List<F>> filters;
    private final Consumer<F> startHolding;
    private final Consumer<F> stopHolding;
    private volatile List<F> running = List.of();

    /** For the filters that there are at the start. */
    public HeldRequestsLifecycle(Supplier<List<F>> filters, Consumer<F> startHolding, Consumer<F> stopHolding) {
        this.filters = filters;
        this.startHolding = startHolding;
        this.stopHolding = stopHolding;
    }

    @Override
    public void start() {
        running = filters.get();
        running.forEach(startHolding);
    }

    @Override
    public void stop() {
        running.forEach(stopHolding);
        running = List.of();
    }

    @Override
    public boolean isRunning() {
        return !running.isEmpty();
    }
}
