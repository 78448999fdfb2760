package io.limiter.spring;

import org.jspecify.annotations.Nullable;

/** Finds the client of the request that this thread handles. Thread-safe. */
@FunctionalInterface
public interface CallerSource {
    /** The client, or null if this thread handles no request. */
    @Nullable
    Caller current();
}
