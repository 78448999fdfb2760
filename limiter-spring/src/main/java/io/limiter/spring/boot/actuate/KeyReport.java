package io.limiter.spring.boot.actuate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one key has used of one policy. Durations are in ISO 8601 form, such as {@code PT9.5S}. Immutable.
 *
 * @param policy the policy's name
 * @param key the key, as in the names of states in Redis
 * @param parts the same in plain text, to check that it is the right one
 * @param member the member of the call that was asked about, if the policy counts members; empty for the missing one, null if
 *     it counts none
 * @param source the source of the numbers: {@code redis} or {@code in-process}; {@code local-fallback} if Redis did not
 *     answer and these are the numbers of this instance's share; {@code failed-open} or {@code failed-closed} if there
 *     are none
 * @param allowed whether a call for one permit would be allowed now
 * @param retryAfter how long until one would be; {@code never} if none can be
 * @param limits the state of each limit; empty if nothing was counted
 * @param note a problem of the backend, or of the key: that no rule and no annotation makes such a key; null if there
 *     is none
 * @param previous the same client's key with the previous secret: {@code limiter.redis.previous-key-secret}; null if
 *     there is none
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
     * @param reason why a call for one permit would be denied, such as {@code quota} or {@code sold-out}; null if it would be
     *     allowed
     * @param retryAfter until this limit would allow a call for one permit; {@code never} if it can't
     * @param next until there is more than now; {@code PT0S} if none is used
     * @param reset until all quota is available again
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
     * A key that was reset to its full quota.
     *
     * @param parts the key in plain text
     * @param note that no rule and no annotation makes such a key; null if one does
     */
    public record Reset(
            String policy,
            String key,
            List<String> parts,
            @Nullable String note) {}

    /** The reason why there is no answer, and what to do. */
    public record Failure(String error) {}
}
