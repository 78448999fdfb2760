package io.limiter.spring.call;

import org.jspecify.annotations.Nullable;

/** Decides a call and makes it, in the way of what its method returns. Immutable. */
@FunctionalInterface
public interface Invoker {
    /** What the caller gets. */
    @Nullable
    Object invoke(LimitedCall call) throws Throwable;
}
