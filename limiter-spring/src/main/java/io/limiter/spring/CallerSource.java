package io.limiter.spring;

import org.jspecify.annotations.Nullable;

/** Knows whose request this thread works for. Thread-safe. */
@FunctionalInterface
public interface CallerSource {
    /** Who called, or null when this thread works for no request. */
    @Nullable
    Caller current();

    /**
     * Whether there is a caller only on the threads of web requests; false unless overridden. If true, a method with
     * {@code @Scheduled} or a listener of messages that needs a caller for its key fails startup, instead of each of its runs.
     */
    default boolean isOfWebRequestsOnly() {
        return false;
    }
}
