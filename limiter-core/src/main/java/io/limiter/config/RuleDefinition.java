package io.limiter.config;

import io.limiter.Algorithm;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.address.IpAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A rule as configured: which requests, which key, which policy. Immutable.
 *
 * <pre>{@code
 * RuleDefinition.of("login", policy, "/login").withMethods("POST").withKey(KeyPart.IP, KeyPart.header("X-Api-Key"))
 * }</pre>
 *
 * @param name the rule's name: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param paths the paths that it matches, at least one: exact ({@code /login}), everything below ({@code /api/*}, which
 *     also matches {@code /api}), with variables that match one segment ({@code /users/{id}}), with any number of
 *     segments
 *     between two others ({@code /api/**&#47;export}). A default rule without paths matches all
 * @param methods the HTTP methods that it matches, in upper case; one that is not registered has the prefix {@code ext:}; empty
 *     for all
 * @param key the parts of the key, in their order; empty for a shared quota
 * @param ipv6PrefixBits how many bits of an IPv6 address identify a client, in the key and where the address replaces a
 *     part of it
 * @param policy the policy that it charges; with plans that of the default plan
 * @param position where it is decided, in an application that authenticates its users in a filter
 * @param scope which of the matching requests it applies to
 * @param mode whether it enforces, only counts, or is disabled
 * @param charging what it charges a request, and which responses keep the charge
 */
public record RuleDefinition(
        String name,
        List<String> paths,
        Set<String> methods,
        List<KeyPart> key,
        int ipv6PrefixBits,
        Policy policy,
        Position position,
        RuleScope scope,
        Mode mode,
        Charging charging) {
    /** The longest wait of a request. */
    public static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /**
     * Checks the rule, copies the collections, and writes the methods in upper case.
     *
     * @throws ConfigException if a part is wrong; the message names the part and the reason
     */
    public RuleDefinition {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(charging, "charging");
        String here = Group.RULES.start + name + ".";
        List<KeyPart> parts = List.copyOf(key);
        List<String> pathsOfKey = paths.isEmpty() && scope.isDefault() ? List.of("/*") : List.copyOf(paths);
        Problems problems = new Problems();
        problems.on(here + "name", name)
                .must(
                        name.matches("[A-Za-z0-9._-]{1,64}"),
                        "'" + name + "' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -");
        problems.on(here + "path", pathsOfKey)
                .must(
                        !pathsOfKey.isEmpty(),
                        "RL-105 rule '" + name + "' has no path; add " + here
                                + "path = /api/* (every path is written /*)")
                .check(PathText::check);
        problems.on(here + "methods", methods).check(MethodText::check);
        problems.on(here + "except", scope.except()).check(PathText::checkExempt);
        problems.on(here + "key", key).check(all -> checkKey(all, pathsOfKey));
        problems.on(here + "member", charging.member()).check(member -> {
            checkKey(member, pathsOfKey);
            checkMember(charging, policies(policy, charging), parts);
        });
        problems.on(here + "cost", charging.cost())
                .check(cost -> policies(policy, charging).forEach(one -> checkCost(cost, one)));
        problems.on(here + "shadow", mode)
                .must(
                        mode != Mode.SHADOW || charging.outcomes() == null,
                        "RL-106 a rule that only counts gives nothing back, so count-on and refund-on would report too many"
                                + " denials; remove them until the rule is enforced");
        problems.on(here + "wait", charging.maxWait())
                .must(
                        !charging.maxWait().isNegative() && charging.maxWait().compareTo(LONGEST_WAIT) <= 0,
                        "not a wait from 0ms to 1m: clients and proxies give up earlier; write one such as 500ms");
        problems.on(here + "wait", charging.maxWait())
                .must(
                        charging.maxWait().isZero()
                                || policies(policy, charging).stream().allMatch(one -> one.block() == null),
                        "RL-177 a request that waits is denied first, and denials block here, so a caller that waits in good faith would"
                                + " be blocked; remove the wait or the block");
        problems.on(here + "plan", charging.plans()).check(plans -> checkPlans(plans, policy, parts));
        problems.range(
                here + "ipv6-prefix", ipv6PrefixBits, ClientIpSettings.LEAST_IPV6_PREFIX_BITS, IpAddress.IPV6_BITS);
        problems.on(here + "position", position)
                .must(
                        position == Position.AFTER_AUTHENTICATION || Position.of(key, scope, charging) == position,
                        "RL-146 before authentication no user is known, so neither a key, an exemption nor a plan can need one; write "
                                + here + "position = after-authentication, or remove this line");
        problems.throwIfAny();
        paths = pathsOfKey;
        methods = methods.stream().map(MethodText::canonical).collect(Collectors.toUnmodifiableSet());
        key = parts;
    }

    /** The methods without the prefix of extensions. */
    public Set<String> methodNames() {
        return methods.stream().map(MethodText::name).collect(Collectors.toUnmodifiableSet());
    }

    /** What a rule does to the requests that it matches. */
    public enum Mode {
        /** It counts them, and denies those above its limits. */
        ENFORCED,
        /** It counts them and reports what it would deny. It denies nothing, and its quota fields are not sent. */
        SHADOW,
        /** Nothing. */
        OFF
    }

    /** A rule for all methods of these paths, with a quota for each client address. */
    public static RuleDefinition of(String name, Policy policy, String... paths) {
        return new RuleDefinition(
                name,
                List.of(paths),
                Set.of(),
                List.of(KeyPart.IP),
                ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS,
                policy,
                Position.BEFORE_AUTHENTICATION,
                RuleScope.ALL,
                Mode.ENFORCED,
                Charging.ONE_PERMIT);
    }

    /** The same rule for these methods only; for all when there is none. */
    public RuleDefinition withMethods(String... only) {
        Set<String> some = new LinkedHashSet<>(List.of(only));
        return new RuleDefinition(name, paths, some, key, ipv6PrefixBits, policy, position, scope, mode, charging);
    }

    /**
     * The same rule with a quota for each combination of these parts; a shared quota if there are none. It is decided
     * where they are known.
     */
    public RuleDefinition withKey(KeyPart... parts) {
        List<KeyPart> all = List.of(parts);
        Position there = Position.of(all, scope, charging);
        return new RuleDefinition(name, paths, methods, all, ipv6PrefixBits, policy, there, scope, mode, charging);
    }

    /** The same rule, decided at this position. */
    public RuleDefinition withPosition(Position there) {
        return new RuleDefinition(name, paths, methods, key, ipv6PrefixBits, policy, there, scope, mode, charging);
    }

    /** The same rule for the requests of this scope only, decided where its callers are known. */
    public RuleDefinition withScope(RuleScope other) {
        return new RuleDefinition(
                name, paths, methods, key, ipv6PrefixBits, policy, latest(other, charging), other, mode, charging);
    }

    /** The same rule in another mode. */
    public RuleDefinition withMode(Mode other) {
        return new RuleDefinition(name, paths, methods, key, ipv6PrefixBits, policy, position, scope, other, charging);
    }

    /** The same rule that charges requests in this way. */
    public RuleDefinition withCharging(Charging how) {
        return new RuleDefinition(
                name, paths, methods, key, ipv6PrefixBits, policy, latest(scope, how), scope, mode, how);
    }

    private Position latest(RuleScope other, Charging how) {
        return Position.of(key, other, how) == Position.AFTER_AUTHENTICATION ? Position.AFTER_AUTHENTICATION : position;
    }

    /**
     * Whether a client can cause denials, and so a block, for the key of another client: when the key has no address
     * and no value that only its client knows.
     */
    boolean letsOthersBlock() {
        return mode == Mode.ENFORCED
                && policies().stream().anyMatch(one -> one.block() != null)
                && key.stream().allMatch(part -> part.kind().canBeAnothers());
    }

    /** All policies that it may charge. */
    public Collection<Policy> policies() {
        return policies(policy, charging);
    }

    private static Collection<Policy> policies(Policy policy, Charging charging) {
        RulePlans plans = charging.plans();
        return plans == null ? List.of(policy) : plans.policies().values();
    }

    /** Where a rule is decided. */
    public enum Position {
        /** Before authentication, so that failed logins count too: {@code before-authentication}. */
        BEFORE_AUTHENTICATION,
        /**
         * After authentication, where the user is known; requests that were refused earlier do not count: {@code
         * after-authentication}.
         */
        AFTER_AUTHENTICATION;

        /** The first position where the key, the exempt callers and the plan are known. */
        static Position of(List<KeyPart> key, RuleScope scope, Charging charging) {
            return scope.exempt().needUser()
                            || charging.needsUser()
                            || key.stream().anyMatch(part -> part.kind() == KeyPart.Kind.USER)
                    ? AFTER_AUTHENTICATION
                    : BEFORE_AUTHENTICATION;
        }
    }

    /** A header that may exceed the limits is not a mistake: most requests cost less. */
    private static void checkCost(RequestCost cost, Policy policy) {
        for (Limit limit : policy.limits()) {
            Problems.refuseIf(
                    limit.algorithm() == Algorithm.DISTINCT && !cost.isFree() && !cost.equals(RequestCost.of(1)),
                    "RL-165 '" + limit + "' of policy '" + policy.name()
                            + "' counts different members, and a request has one; remove the cost, or charge it by another"
                            + " rule");
            Problems.refuseIf(
                    cost.header() == null && cost.exceeds(limit),
                    "RL-165 no request could ever be allowed: '" + limit + "' of policy '" + policy.name()
                            + "' grants at most " + limit.capacity()
                            + " at once; write a smaller cost or a greater limit");
        }
    }

    private static void checkMember(Charging charging, Collection<Policy> policies, List<KeyPart> key) {
        boolean counted = policies.stream().anyMatch(Policy::takesMembers);
        Problems.refuseIf(
                !counted && !charging.member().isEmpty(),
                "RL-163 none of its policies counts members; add a limit such as 5/1h distinct, or remove this line");
        Problems.refuseIf(
                counted && !charging.member().isEmpty() && key.containsAll(charging.member()),
                "RL-164 the key has it too, so each key has one member and nearly nothing is limited; write another member,"
                        + " or another key");
        Problems.refuseIf(
                counted && !charging.maxWait().isZero(),
                "RL-106 its policy counts members, and no request can wait for that; remove the wait");
    }

    private static void checkPlans(RulePlans plans, Policy policy, List<KeyPart> key) {
        Problems.refuseIf(
                !plans.policies().containsValue(policy),
                "policy '" + policy.name() + "' belongs to no plan; use the policy of one plan as the default");
        Problems.refuseIf(
                plans.source() == RulePlans.Source.RESOLVER && key.isEmpty(),
                "RL-170 with key = global all callers share one key, but a resolver needs one for each; write another"
                        + " key");
        Problems.refuseIf(
                plans.source() == RulePlans.Source.RESOLVER
                        && key.stream().anyMatch(part -> part.kind() == KeyPart.Kind.CLASS),
                "RL-170 a resolver gets a part of the key in clear, and a class makes this key; write another key, or find"
                        + " the plan in a rule in code");
    }

    private static void checkKey(List<KeyPart> key, List<String> paths) {
        Set<KeyPart> parts = new HashSet<>();
        for (KeyPart part : key) {
            Problems.refuseIf(
                    part.kind() == KeyPart.Kind.CLASS && key.size() > 1,
                    "'" + part
                            + "' makes the whole key and can't be combined; remove the other parts, or add them"
                            + " in that class");
            for (String path : paths) {
                Problems.refuseIf(
                        part.kind() == KeyPart.Kind.PATH && !path.contains("{" + part.name() + "}"),
                        "path '" + path + "' has no variable {" + part.name()
                                + "}; write it into the path, or use another key");
            }
            Problems.refuseIf(!parts.add(part), "'" + part + "' occurs twice; write it once");
        }
    }
}
