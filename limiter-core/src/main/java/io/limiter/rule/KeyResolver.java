package io.limiter.rule;

import io.limiter.PartitionKey;

/**
 * Whose quota a subject uses. Thread-safe.
 *
 * @param <T> the subject, such as an HTTP request
 */
@FunctionalInterface
public interface KeyResolver<T> {
    /**
     * The key of a subject. There always is one: where a part is missing (no user, no API key) something else stands in
     * ({@link PartitionKey.Builder#addStandIn}), so that leaving a part out never switches a rule off.
     */
    PartitionKey resolve(T subject);
}
