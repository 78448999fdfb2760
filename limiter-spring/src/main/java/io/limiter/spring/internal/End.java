package io.limiter.spring.internal;

import org.jspecify.annotations.Nullable;

/**
 * How a call ended.
 *
 * @param isComplete whether it has its result
 * @param failure with which it failed; null if it is complete, or was given up
 * @param waits whether its caller waits for a refund
 */
record End(
        boolean isComplete,
        @Nullable Object result,
        @Nullable Throwable failure,
        boolean waits) {
    static final End GIVEN_UP = new End(false, null, null, false);
}
