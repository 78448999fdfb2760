package io.limiter;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Something that a limiter made of its configuration, and makes anew when that is replaced. Thread-safe.
 *
 * @param <T> what it is; immutable, or safe for threads
 */
public final class Derived<T> implements AutoCloseable {
    private final Supplier<@Nullable T> present;
    private final Runnable giveUp;
    private volatile @Nullable T last;

    /** With what gives the present value, until it was given up: then it gives null. */
    Derived(Supplier<@Nullable T> present, Runnable giveUp) {
        this.present = present;
        this.giveUp = giveUp;
    }

    /** What belongs to the present configuration. Ask once for each call, and keep it for that call only. */
    public T get() {
        T now = present.get();
        return now != null ? now : Objects.requireNonNull(last);
    }

    /** Gives it up: it is not made anew any more, and {@link #get} gives the last one. Again it does nothing. */
    @Override
    public synchronized void close() {
        if (last == null) {
            last = present.get();
            giveUp.run();
        }
    }
}
