package io.limiter;

/**
 * Something that a {@link Limiter} made of its configuration, and makes anew when that is replaced. Thread-safe.
 *
 * @param <T> what it is; immutable, or safe for threads
 */
public final class Derived<T> implements AutoCloseable {
    private final Limiter limiter;
    private final int slot;

    Derived(Limiter limiter, int slot) {
        this.limiter = limiter;
        this.slot = slot;
    }

    /** What belongs to the present configuration. Ask once for each call, and keep it for that call only. */
    public T get() {
        return limiter.derived(slot);
    }

    /** Gives it up: it is not made anew any more. Not to be used afterwards. */
    @Override
    public void close() {
        limiter.giveUp(slot);
    }
}
