package io.limiter.http;

import io.limiter.address.IpAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request as an operator describes it, whose way through the rules is to be explained. Immutable.
 *
 * <pre>{@code
 * RequestSample.of("POST", "/vote?id=7", "192.0.2.1").withHeaders("X-Api-Key: abc")
 * }</pre>
 *
 * @param method the HTTP method
 * @param target the path as a client sends it, encoded and with the context path; the query, if any, after a question mark
 * @param headers the lines of each header; the name in any case
 * @param address of the TCP peer, which is the client or the last proxy before this server
 * @param user the name of the authenticated user; null for none
 * @param roles of that user
 * @param attributes of that user, such as its plan
 */
public record RequestSample(
        String method,
        String target,
        Map<String, List<String>> headers,
        String address,
        @Nullable String user,
        Set<String> roles,
        Map<String, String> attributes) {
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}");
    private static final Pattern TARGET = Pattern.compile("/[!-~]{0,8191}");

    /**
     * Copies the collections.
     *
     * @throws IllegalArgumentException if a part is invalid; the message contains no header value
     */
    public RequestSample {
        refuseUnless(TOKEN.matcher(method).matches(), "the method is not one; write GET or another one");
        refuseUnless(
                TARGET.matcher(target).matches(),
                "the path does not begin with a slash, is longer than 8192 characters or is not encoded; write it as a"
                        + " client sends it, such as /caf%C3%A9?id=7");
        refuseUnless(IpAddress.parse(address) != null, "the address is not an IP address; write one such as 192.0.2.1");
        Map<String, List<String>> lines = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> {
            refuseUnless(TOKEN.matcher(name).matches(), "a header has no name; write each as Name: value");
            lines.computeIfAbsent(name, n -> new ArrayList<>()).addAll(values);
        });
        headers = Collections.unmodifiableMap(lines);
        roles = Set.copyOf(roles);
        attributes = Map.copyOf(attributes);
    }

    /** A request without headers, and without a user. */
    public static RequestSample of(String method, String target, String address) {
        return new RequestSample(method, target, Map.of(), address, null, Set.of(), Map.of());
    }

    /**
     * The same request with these headers.
     *
     * @param lines {@code Name: value} each, or several in one text
     * @throws IllegalArgumentException if one has no colon, or no name
     */
    public RequestSample withHeaders(String... lines) {
        Map<String, List<String>> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> all.put(name, new ArrayList<>(values)));
        String.join("\n", lines).lines().filter(line -> !line.isBlank()).forEach(line -> {
            int colon = line.indexOf(':');
            refuseUnless(colon > 0, "a header has no name; write each as Name: value");
            all.computeIfAbsent(line.substring(0, colon).strip(), n -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        });
        return new RequestSample(method, target, all, address, user, roles, attributes);
    }

    /** The same request by this user; by none if null. */
    public RequestSample withUser(@Nullable String name, Set<String> inRoles, Map<String, String> itsAttributes) {
        return new RequestSample(method, target, headers, address, name, inRoles, itsAttributes);
    }

    private static void refuseUnless(boolean right, String text) {
        if (!right) {
            throw new IllegalArgumentException(text);
        }
    }

    /** Without headers and query, which may contain secrets. */
    @Override
    public String toString() {
        return method + " " + target.replaceFirst("\\?.*", "") + " from " + address;
    }

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
}
