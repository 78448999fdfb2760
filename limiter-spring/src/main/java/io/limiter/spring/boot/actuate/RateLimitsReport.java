package io.limiter.spring.boot.actuate;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is limited in an application, and how it has gone since its start. Never who calls. Immutable.
 *
 * @param backend where the state is
 * @param policies by name: those of the configuration, those of annotations, and others that have decided something
 * @param rules of the configuration, in their order
 * @param methods that have the annotation, as far as their beans exist
 */
public record RateLimitsReport(
        Backend backend, Map<String, PolicyReport> policies, List<Rule> rules, List<LimitedMethod> methods) {
    /**
     * Where the state is.
     *
     * @param kind {@code in-process} or {@code redis}
     * @param servers how each server is, by name: {@code answers}, {@code suspect}, {@code away}
     * @param findings what is to be said of them now, each beginning with a code
     * @param failures how often there was no decision, by reason
     */
    public record Backend(
            String kind, Map<String, String> servers, List<String> findings, Map<String, Long> failures) {}

    /**
     * A policy.
     *
     * @param limits in the grammar of the configuration; empty where the policy is known by its decisions only
     * @param onFailure {@code local}, {@code allow} or {@code deny}; null where it is not known
     * @param deadline how long a decision waits for Redis, as ISO 8601 duration; null for that of the backend
     * @param definedBy {@code configuration}, the method of its annotation, or {@code code}
     * @param decisions by where they came from: {@code redis}, {@code in-process}, {@code local-fallback} ...
     */
    public record PolicyReport(
            List<String> limits,
            @Nullable String onFailure,
            @Nullable String deadline,
            String definedBy,
            Map<String, Decisions> decisions) {}

    /**
     * How many calls a policy decided.
     *
     * @param allowed that it let pass
     * @param denied that it did not, or where it only shadows would not have
     */
    public record Decisions(long allowed, long denied) {}

    /**
     * A rule of the filter.
     *
     * @param methods empty for all
     * @param key whose quota, as it is written in the configuration
     */
    public record Rule(String name, List<String> paths, List<String> methods, String key, String policy) {}

    /**
     * An annotation on a method.
     *
     * @param key whose quota, as it is written; {@code ip} where nothing is
     * @param condition null for every call
     * @param shadow whether it only counts, and denies nothing
     */
    public record LimitedMethod(
            String method,
            String policy,
            String key,
            String permits,
            @Nullable String condition,
            boolean shadow) {}
}
