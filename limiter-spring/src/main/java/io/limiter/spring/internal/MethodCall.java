package io.limiter.spring.internal;

import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
public final class MethodCall {
    /** The object of the call; null for a static method. */
    final @Nullable Object target;

    final @Nullable Object[] arguments;
    final Rest rest;

    /** A call of this object with these arguments. */
    public MethodCall(@Nullable Object target, @Nullable Object[] arguments, Rest rest) {
        this.target = target;
        this.arguments = arguments;
        this.rest = rest;
    }

    /** What remains of a call. */
    @FunctionalInterface
    public interface Rest {
        /** Calls the method, possibly on another thread, at most once. */
        @Nullable
        Object proceed() throws Throwable;

        /** A copy for another call. */
        default Rest again() {
            return this;
        }
    }
}
