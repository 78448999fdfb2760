package io.limiter.spring.aop;

import org.jspecify.annotations.Nullable;

/** Knows whose request this thread works for. Thread-safe. */
@FunctionalInterface
public interface CallerSource {
    /** Who called, or null when this thread works for no request. */
    @Nullable
    Caller current();
}
