package io.limiter.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a filter would do with a request now, and why. Contains secrets of the request only as hashes, as in keys.
 * Durations are in ISO 8601 form, such as {@code PT9.5S}, or {@code never}. Immutable.
 *
 * @param admitted whether the request would reach the application
 * @param status of the answer if it would not: 429, 503, or that of denied callers; 0 if it would
 * @param reason a sentence
 * @param retryAfter how long until it would be admitted; {@code PT0S} where it would
 * @param paths all readings of the path; a rule that matches one of them matches
 * @param client the client's address; of an IPv6 client its network, by {@code limiter.client-ip.ipv6-prefix}
 * @param clientFrom {@code peer}, {@code header} (a trusted proxy named it) or {@code none}; {@code container} if a
 *     component before the filter replaces addresses, so that a request can come with another one than the sample's
 * @param rules each configured rule of the filter, in their order; then one for all rules of the application in code, if it has any
 */
public record Explanation(
        boolean admitted,
        int status,
        String reason,
        String retryAfter,
        List<String> paths,
        String client,
        String clientFrom,
        List<RuleReport> rules) {
    /** Copies the lists. */
    public Explanation {
        paths = List.copyOf(paths);
        rules = List.copyOf(rules);
    }

    /**
     * What one rule does with the request.
     *
     * @param rule its name; empty for rules in code
     * @param mode {@code enforced}, {@code shadow} or {@code off}
     * @param counts whether it counts the request; false for rules in code, which decide that with each request
     * @param why a sentence: why it counts the request, or does not
     * @param path the reading of the path that it matches; null if it matches none
     * @param charge what it charges; null if it counts nothing, or a class of the application decides a part of it
     * @param unused why it has counted no request since it took effect; null if it has counted one
     */
    public record RuleReport(
            String rule,
            String mode,
            boolean counts,
            String why,
            @Nullable String path,
            @Nullable ChargeReport charge,
            @Nullable String unused) {}

    /**
     * A charge, and the current state of its key: of a rule, or what an operator asks about a key.
     *
     * @param plan of the caller; null if there are no plans
     * @param key as in the log
     * @param parts those of the key in plain text, so that an operator can recognize the client
     * @param member which the policy counts, encoded like the key; empty for the missing member, null if the policy counts
     *     none
     * @param allowed whether this charge alone would be allowed
     * @param source where the answer comes from: {@code redis}, {@code in-process}, {@code cached-denial} ...
     * @param limits empty if nothing could be counted
     * @param note a problem of the backend or of the key; null if there is none
     */
    public record ChargeReport(
            String policy,
            @Nullable String plan,
            String key,
            List<String> parts,
            @Nullable String member,
            long permits,
            boolean allowed,
            String source,
            String retryAfter,
            List<LimitReport> limits,
            @Nullable String note) {}

    /**
     * The answer of one limit to the charge.
     *
     * @param name null if the limit has none
     * @param limit as configuration text
     * @param remaining for a rule, permits that would be left after the charge, or are left now if it would be denied; for a key,
     *     permits that are left now
     * @param reason why it denies, such as {@code quota} or {@code sold-out}; null if it allows
     * @param next until more quota is available
     * @param reset until all quota is available again
     */
    public record LimitReport(
            @Nullable String name,
            String limit,
            boolean allowed,
            @Nullable String reason,
            long remaining,
            String retryAfter,
            String next,
            String reset) {}
}
