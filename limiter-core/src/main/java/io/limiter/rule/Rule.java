package io.limiter.rule;

import io.limiter.Charge;
import org.jspecify.annotations.Nullable;

/**
 * Turns a subject into a charge, or says that it is not for it. Thread-safe.
 *
 * @param <T> the subject, such as an HTTP request
 */
@FunctionalInterface
public interface Rule<T> {
    /** What the subject costs, or null when the rule is not for it. */
    @Nullable
    Charge charge(T subject);
}
