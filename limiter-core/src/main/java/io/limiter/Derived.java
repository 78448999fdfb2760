package io.limiter;

import java.util.function.Supplier;

/**
 * Something that a limiter made of its configuration, and makes anew when that is replaced. Thread-safe.
 *
 * @param <T> what it is; immutable, or safe for threads
 */
public final class Derived<T> implements AutoCloseable {
    private final Supplier<T> present;
    private final Runnable giveUp;

    Derived(Supplier<T> present, Runnable giveUp) {
        this.present = present;
        this.giveUp = giveUp;
    }

    /** What belongs to the present configuration. Ask once for each call, and keep it for that call only. */
    public T get() {
        return present.get();
    }

    /** Gives it up: it is not made anew any more. Not to be used afterwards. */
    @Override
    public void close() {
        giveUp.run();
    }
}
