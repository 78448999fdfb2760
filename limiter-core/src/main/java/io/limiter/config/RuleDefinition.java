package io.limiter.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.address.IpAddress;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A rule as configured: where, whose, which policy. Immutable.
 *
 * <pre>{@code
 * RuleDefinition.of("login", policy, "/login").withMethods("POST").withKey(KeyPart.IP, KeyPart.header("X-Api-Key"))
 * }</pre>
 *
 * @param name the rule's name: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param paths the paths it is for, at least one: exact ({@code /login}), everything below ({@code /api/*}, which is
 *     {@code /api} too), with variables that stand for one segment ({@code /users/{id}})
 * @param methods the HTTP methods it is for, in upper case; empty for all
 * @param key the parts of the key, in their order; empty for one quota for all
 * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart, in the key and where the address stands in
 *     for a part of it
 * @param policy the policy that it charges; with plans that of the default plan
 * @param charging what it charges a request, and which responses keep the charge
 */
public record RuleDefinition(
        String name,
        List<String> paths,
        Set<String> methods,
        List<KeyPart> key,
        int ipv6PrefixBits,
        Policy policy,
        Charging charging) {
    private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_-]*)}");
    private static final Pattern UNFIT = Pattern.compile("[*{};?#%\\\\]|^\\.{1,2}$");
    private static final List<String> METHODS =
            List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT");

    /**
     * Checks the rule, copies the collections, and writes the methods in upper case.
     *
     * @throws ConfigException if a part is wrong; the message says which and why
     */
    public RuleDefinition {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(charging, "charging");
        String here = Group.RULES.start + name + ".";
        boolean isGlobal = key.isEmpty();
        List<String> pathsOfKey = List.copyOf(paths);
        Problems problems = new Problems();
        problems.on(here + "name", name)
                .must(
                        name.matches("[A-Za-z0-9._-]{1,64}"),
                        "'" + name + "' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -");
        problems.on(here + "path", paths)
                .must(
                        !paths.isEmpty(),
                        "RL-105 rule '" + name + "' has no path; add " + here
                                + "path = /api/* (every path is written /*)")
                .check(all -> all.forEach(RuleDefinition::checkPath));
        problems.on(here + "methods", methods).check(all -> all.forEach(RuleDefinition::checkMethod));
        problems.on(here + "key", key).check(parts -> checkKey(parts, pathsOfKey));
        problems.on(here + "cost", charging.cost())
                .check(cost -> policies(policy, charging).forEach(one -> checkCost(cost, one)));
        problems.on(here + "plan", charging.plans()).check(plans -> checkPlans(plans, policy, isGlobal));
        problems.range(
                here + "ipv6-prefix", ipv6PrefixBits, ClientIpSettings.LEAST_IPV6_PREFIX_BITS, IpAddress.IPV6_BITS);
        problems.throwIfAny();
        paths = pathsOfKey;
        methods =
                methods.stream().map(method -> method.toUpperCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
        key = List.copyOf(key);
    }

    /** A rule for all methods of these paths, with a quota for each client's address. */
    public static RuleDefinition of(String name, Policy policy, String... paths) {
        return new RuleDefinition(
                name,
                List.of(paths),
                Set.of(),
                List.of(KeyPart.IP),
                ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS,
                policy,
                Charging.ONE_PERMIT);
    }

    /** The same rule for these methods only; for all when there is none. */
    public RuleDefinition withMethods(String... only) {
        return new RuleDefinition(
                name, paths, new LinkedHashSet<>(List.of(only)), key, ipv6PrefixBits, policy, charging);
    }

    /** The same rule with a quota for each combination of these parts; one quota for all when there is none. */
    public RuleDefinition withKey(KeyPart... parts) {
        return new RuleDefinition(name, paths, methods, List.of(parts), ipv6PrefixBits, policy, charging);
    }

    /** The same rule that charges requests in this way. */
    public RuleDefinition withCharging(Charging how) {
        return new RuleDefinition(name, paths, methods, key, ipv6PrefixBits, policy, how);
    }

    /** All policies that it may charge. */
    public Collection<Policy> policies() {
        return policies(policy, charging);
    }

    private static Collection<Policy> policies(Policy policy, Charging charging) {
        RulePlans plans = charging.plans();
        return plans == null ? List.of(policy) : plans.policies().values();
    }

    private static void checkPath(String path) {
        Problems.refuseIf(!path.startsWith("/"), "'" + path + "' is no path; start it with /");
        String[] segments = path.substring(1).split("/", -1);
        Set<String> variables = new HashSet<>();
        for (int i = 0; i < segments.length; i++) {
            String segment = segments[i];
            boolean last = i == segments.length - 1;
            Matcher variable = VARIABLE.matcher(segment);
            Problems.refuseIf(
                    segment.isEmpty() && !last, "'" + path + "' has an empty segment; write one / between segments");
            Problems.refuseIf(
                    variable.matches() && !variables.add(variable.group(1)),
                    "'" + path + "' has two variables " + segment + "; give one of them another name");
            Problems.refuseIf(
                    !variable.matches()
                            && !(last && segment.equals("*"))
                            && UNFIT.matcher(segment).find(),
                    "'" + path + "' can't be matched at '" + segment
                            + "'; a path is plain decoded text, * stands alone at its end (/api/*), a variable alone"
                            + " between two / (/users/{id})");
        }
    }

    private static void checkMethod(String method) {
        Problems.refuseIf(
                !HttpSettings.isToken(method),
                "'" + method + "' is no method; write GET, POST, separated by commas, or leave the line out for all");
        String upper = method.toUpperCase(Locale.ROOT);
        String suggestion = METHODS.contains(upper) ? "" : Suggestion.of(upper, METHODS);
        Problems.refuseIf(!suggestion.isEmpty(), "'" + method + "' is no method" + suggestion);
    }

    /** A header that may ask for too much is no mistake: most requests ask for less. */
    private static void checkCost(RequestCost cost, Policy policy) {
        for (Limit limit : policy.limits()) {
            Problems.refuseIf(
                    cost.header() == null && cost.exceeds(limit),
                    "RL-165 no request could ever be allowed: '" + limit + "' of policy '" + policy.name()
                            + "' grants at most " + limit.capacity()
                            + " at once; write a smaller cost or a greater limit");
        }
    }

    private static void checkPlans(RulePlans plans, Policy policy, boolean isGlobal) {
        Problems.refuseIf(
                !plans.policies().containsValue(policy),
                "policy '" + policy.name() + "' is that of no plan; take the policy of one of them as default");
        Problems.refuseIf(
                plans.source() == RulePlans.Source.RESOLVER && isGlobal,
                "RL-170 with key = global all callers are one, and a resolver finds the plan of each; write another"
                        + " key");
    }

    private static void checkKey(List<KeyPart> key, List<String> paths) {
        Set<KeyPart> parts = new HashSet<>();
        for (KeyPart part : key) {
            for (String path : paths) {
                Problems.refuseIf(
                        part.kind() == KeyPart.Kind.PATH && !path.contains("{" + part.name() + "}"),
                        "path '" + path + "' has no variable {" + part.name()
                                + "}; write it into the path, or use another key");
            }
            Problems.refuseIf(!parts.add(part), "'" + part + "' comes twice; write it once");
        }
    }
}
