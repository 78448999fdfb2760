package io.limiter.spring.boot.actuate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one key has used of one policy. Durations are of ISO 8601, such as {@code PT9.5S}. Immutable.
 *
 * @param policy the policy's name
 * @param key the key that was looked at, as it stands in the names of states in Redis
 * @param parts the same in plain text, to see that it is the right one
 * @param member whose call was asked about, where the policy counts members; empty for the missing one, null where it counts none
 * @param source who said it: {@code redis} or {@code in-process}; {@code local-fallback} where Redis did not answer and these are
 *     the numbers of this instance's share; {@code failed-open} or {@code failed-closed} where there are none
 * @param allowed whether a call for one permit would pass now
 * @param retryAfter how long until one would; {@code never} where none can
 * @param limits what each limit says; empty where nobody counted
 * @param note what is wrong with the backend, or with the key: that no rule and no annotation makes such a one; null when nothing is
 * @param previous the same client's key with the secret before: {@code limiter.redis.previous-key-secret}; null where there is none
 */
public record KeyReport(
        String policy,
        String key,
        List<String> parts,
        @Nullable String member,
        String source,
        boolean allowed,
        String retryAfter,
        List<LimitState> limits,
        @Nullable String note,
        @Nullable KeyReport previous) {
    /**
     * What a key has used of one limit.
     *
     * @param name the limit's name in its policy
     * @param limit the limit, in the grammar of the configuration
     * @param remaining permits that are left
     * @param reason why a call for one permit would be denied, such as {@code quota} or {@code sold-out}; null where it would not
     * @param retryAfter until a call for one permit would pass this limit; {@code never} where none can
     * @param next until there is more than now; {@code PT0S} when there is all
     * @param reset until all is back
     */
    public record LimitState(
            String name,
            String limit,
            long remaining,
            @Nullable String reason,
            String retryAfter,
            String next,
            String reset) {}

    /**
     * A key that has its whole quota again.
     *
     * @param parts the key in plain text
     * @param note that no rule and no annotation makes such a key; null when one does
     */
    public record Reset(
            String policy,
            String key,
            List<String> parts,
            @Nullable String note) {}

    /** Why there is no answer, and what to do. */
    public record Failure(String error) {}
}
