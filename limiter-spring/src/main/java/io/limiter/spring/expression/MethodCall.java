package io.limiter.spring.expression;

import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
public interface MethodCall {
    /** The object whose method is called; null for a static one. */
    @Nullable
    Object target();

    /** What it is called with. */
    @Nullable
    Object[] arguments();

    /** Calls the method; perhaps on another thread, and once at most. */
    @Nullable
    Object proceed() throws Throwable;

    /** The same call as if it came again, with a {@link #proceed} of its own. */
    default MethodCall again() {
        return this;
    }
}
