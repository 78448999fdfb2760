package io.limiter;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that a limiter derives from its configuration, and derives again when that is replaced. Thread-safe.
 *
 * @param <T> the type of the value; immutable, or thread-safe
 */
public final class Derived<T> implements AutoCloseable {
    private final Supplier<@Nullable T> present;
    private final Runnable giveUp;
    private volatile @Nullable T last;

    /** Returns the current value; null after {@link #close}. */
    Derived(Supplier<@Nullable T> present, Runnable giveUp) {
        this.present = present;
        this.giveUp = giveUp;
    }

    /** The value for the current configuration. Get it once for each call, and keep it for that call only. */
    public T get() {
        T now = present.get();
        return now != null ? now : Objects.requireNonNull(last);
    }

    /** Ends it: the value is not derived again, and {@link #get} returns the last one. Calling it again has no effect. */
    @Override
    public synchronized void close() {
        if (last == null) {
            last = present.get();
            giveUp.run();
        }
    }
}
