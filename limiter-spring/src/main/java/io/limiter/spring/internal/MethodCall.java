package io.limiter.spring.internal;

import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
public interface MethodCall {
    /** The object of the call; null for a static method. */
    @Nullable
    Object target();

    /** The arguments. */
    @Nullable
    Object[] arguments();

    /** Calls the method, possibly on another thread, at most once. */
    @Nullable
    Object proceed() throws Throwable;

    /** A copy of the call, with its own {@link #proceed}. */
    default MethodCall again() {
        return this;
    }
}
