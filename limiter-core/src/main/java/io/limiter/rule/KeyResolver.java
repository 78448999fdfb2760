package io.limiter.rule;

import io.limiter.PartitionKey;

/**
 * Finds the key of a subject, which selects the quota. Thread-safe.
 *
 * @param <T> the subject, such as an HTTP request
 */
@FunctionalInterface
public interface KeyResolver<T> {
    /**
     * The key of a subject. There always is one: a missing part (no user, no API key) is replaced ({@link
     * PartitionKey.Builder#addStandIn}), so that a client can't escape a rule by leaving a part out.
     */
    PartitionKey resolve(T subject);
}
