package io.limiter.spring;

import org.jspecify.annotations.Nullable;

/** Finds the client of the request that this thread handles. Thread-safe. */
@FunctionalInterface
public interface CallerSource {
    /** The client, or null if this thread handles no request. */
    @Nullable
    Caller current();

    /**
     * Whether there is a caller only on the threads of web requests; false unless overridden. If true, a method with
     * {@code @Scheduled} or a message listener that needs a caller for its key fails startup, rather than each of its
     * runs.
     */
    default boolean isOfWebRequestsOnly() {
        return false;
    }
}
