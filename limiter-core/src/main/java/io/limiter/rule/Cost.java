package io.limiter.rule;

/**
 * How many permits a subject costs. Thread-safe.
 *
 * @param <T> the subject, such as an HTTP request
 */
@FunctionalInterface
public interface Cost<T> {
    /**
     * The cost of a subject, at least 0; 0 takes nothing. If it is negative or an exception is thrown, the subject is charged as much
     * as the limits can grant at once.
     */
    long permits(T subject);
}
