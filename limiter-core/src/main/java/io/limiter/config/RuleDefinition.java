package io.limiter.config;

import io.limiter.Policy;
import java.util.List;
import java.util.Set;

/**
 * A rule as configured: where, whose, which policy. Immutable.
 *
 * @param name the rule's name
 * @param paths the paths it is for, at least one: exact ({@code /login}), everything below ({@code /api/*}, which is
 *     {@code /api} too), with variables that stand for one segment ({@code /users/{id}})
 * @param methods the HTTP methods it is for, in upper case; empty for all
 * @param key the parts of the key, in their order; empty for one quota for all
 * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart, in the key and where the address stands in
 *     for a part of it
 * @param policy the policy that it charges
 */
public record RuleDefinition(
        String name, List<String> paths, Set<String> methods, List<KeyPart> key, int ipv6PrefixBits, Policy policy) {
    /** Copies the collections. */
    public RuleDefinition {
        paths = List.copyOf(paths);
        methods = Set.copyOf(methods);
        key = List.copyOf(key);
    }
}
