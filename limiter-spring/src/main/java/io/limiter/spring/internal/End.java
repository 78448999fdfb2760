package io.limiter.spring.internal;

import org.jspecify.annotations.Nullable;

/**
 * How a call ended.
 *
 * @param isComplete whether it has its result
 * @param failure with which it failed; null if it is complete, or was given up
 */
record End(
        boolean isComplete,
        @Nullable Object result,
        @Nullable Throwable failure) {
    static final End GIVEN_UP = new End(false, null, null);
}
