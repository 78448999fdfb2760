package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.ChargeOptions.RulePlans;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RuleDefinition.Position;
import io.limiter.internal.config.Settings.PlanSettings;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Makes a rule of the properties below its name, and checks whether its parts fit together. Used once. */
final class RuleParser {
    /** Replaces the invalid policy of a rule, so that the mistakes in the rule's other values are found too. */
    private static final Policy ANY = Policy.of("any", Limit.fixedWindow(Limit.MAX_PERMITS, Duration.ofDays(1)));

    private final PropertyReader reader;
    private final String name;
    private final String here;

    RuleParser(PropertyReader reader, String name) {
        this.reader = reader;
        this.name = name;
        this.here = NamedKeys.RULES.start + name + ".";
    }

    /**
     * The rule; one that may be incomplete if there are mistakes, which are noted.
     *
     * @param policies those that can be named
     * @param named their names, also of those that are wrong
     */
    RuleDefinition parse(
            Map<String, Policy> policies, Set<String> named, PlanSettings allPlans, ClientIpSettings clientIp) {
        boolean hasPlans = reader.has(here + "plan");
        RulePlans plans = hasPlans ? plans(allPlans) : null;
        Policy policy = hasPlans ? policyOfDefaultPlan(plans) : policy(policies, named);
        List<KeyPart> key = reader.read(here + "key", List.of(KeyPart.IP), KeyPart::parseAll);
        RuleScope scope = RuleScope.read(reader, name, here);
        ChargeOptions charging = ChargeOptions.read(reader, here, policy == null ? ANY : policy, plans);
        boolean shadow = reader.yes(here + "shadow");
        Mode mode = !reader.yes(here + "enabled") ? Mode.OFF : shadow ? Mode.SHADOW : Mode.ENFORCED;
        int ipv6PrefixBits = (int) reader.number(here + "ipv6-prefix", clientIp.ipv6PrefixBits());
        Position position = reader.choice(here + "position", "position", Position.of(key, scope, charging));
        RuleDefinition rule = new RuleDefinition(name, scope, key, ipv6PrefixBits, position, mode, charging);
        reader.must(
                here + "name",
                name.matches("[A-Za-z0-9._-]{1,64}"),
                "'" + name + "' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -");
        if (policy != null) {
            check(rule);
        }
        return rule;
    }

    /** The plans of the rule, each with a policy; null when something is wrong, which is noted. */
    private @Nullable RulePlans plans(PlanSettings plans) {
        BiFunction<String, List<Limit>, Policy> named = PolicyParser.named(reader, here);
        return reader.read(here + "plan", text -> {
            Map<String, Policy> policies = new LinkedHashMap<>();
            plans.limits().forEach((plan, limits) -> policies.put(plan, named.apply(name + "." + plan, limits)));
            return RulePlans.parse(text, Collections.unmodifiableMap(policies));
        });
    }

    /** The policy of the default plan; null when there is none, which is noted. */
    private @Nullable Policy policyOfDefaultPlan(@Nullable RulePlans plans) {
        String key = here + "default-plan";
        String plan = reader.text(key);
        // Also the plans with a mistake, which are already reported.
        Set<String> known = NamedKeys.PLANS.names(reader.byKey().values());
        reader.must(
                key,
                plan == null || known.contains(plan),
                "RL-169 there is no such plan; add " + NamedKeys.PLANS.start + plan + ".limits = 100/1m"
                        + Suggestion.of(String.valueOf(plan), known));
        return plans == null ? null : plans.policies().get(plan);
    }

    /** The policy that the rule names, or its own; null when it is wrong, which is noted. */
    private @Nullable Policy policy(Map<String, Policy> policies, Set<String> named) {
        ConfigEntry reference = reader.byKey().get(here + "policy");
        String own = NamedKeys.POLICIES.properties.stream()
                .filter(property -> reader.has(here + property))
                .findFirst()
                .orElse(null);
        if (reference == null && own != null) {
            return PolicyParser.policy(reader, name, here);
        }
        if (reference == null) {
            reader.note(
                    here + "policy",
                    "RL-105 rule '" + name + "' has no limit; add " + here + "policy or " + here + "limits");
            return null;
        }
        String policy = reference.value();
        if (own != null) {
            reader.note(
                    here + own,
                    "RL-106 rule '" + name + "' names policy '" + policy + "' (" + reference.source() + ") and has "
                            + own + " of its own; keep one of the two");
        } else if (!named.contains(policy)) {
            reader.note(
                    here + "policy",
                    "RL-107 there is no such policy; add " + NamedKeys.POLICIES.start + policy + ".limits = 3/10s"
                            + Suggestion.of(policy, named));
        }
        return policies.get(policy);
    }

    /** Whether the parts of a rule fit together. */
    private void check(RuleDefinition rule) {
        ChargeOptions charging = rule.charging();
        List<String> paths = rule.scope().paths();
        reader.check(here + "key", () -> checkKey(rule.key(), paths));
        reader.check(here + "member", () -> {
            checkKey(charging.member(), paths);
            checkMember(charging, rule.key());
        });
        reader.check(here + "cost", () -> rule.policies().forEach(one -> checkCost(charging.cost(), one)));
        reader.check(here + "settle", () -> rule.policies().forEach(one -> checkHolds(charging, one)));
        reader.must(
                here + "wait",
                charging.maxWait().isZero() || rule.policies().stream().allMatch(one -> one.penalty() == null),
                "RL-177 a request that waits is denied first, and denials block here, so a caller that waits in good faith would"
                        + " be blocked; remove the wait or the block");
        reader.check(here + "plan", () -> checkPlans(charging.plans(), rule.key()));
        reader.must(
                here + "position",
                rule.position() == Position.AFTER_AUTHENTICATION
                        || Position.of(rule.key(), rule.scope(), charging) == rule.position(),
                "RL-146 before authentication no user is known, so neither a key, a member, an exemption nor a plan can need one; write "
                        + here + "position = after-authentication, or remove this line");
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
                    cost.header() == null && cost.exceeds(policy, limit),
                    "RL-165 no request could ever be allowed: '" + limit + "' of policy '" + policy.name()
                            + "' grants at most " + limit.capacity()
                            + " at once; write a smaller cost or a greater limit");
        }
    }

    private void checkHolds(ChargeOptions charging, Policy policy) {
        Problems.refuseIf(
                charging.actual() != null && policy.holds() == 0,
                "RL-182 policy '" + policy.name() + "' can't be reserved; add "
                        + (reader.has(here + "policy") ? NamedKeys.POLICIES.start + policy.name() + "." : here)
                        + "holds = 1000, for as many reservations of one key");
    }

    private void checkMember(ChargeOptions charging, List<KeyPart> key) {
        Collection<Policy> policies = charging.policies();
        boolean counted = policies.stream().anyMatch(Policy::takesMembers);
        Problems.refuseIf(
                counted && charging.member().isEmpty(),
                "RL-164 the policy of rule '" + name
                        + "' counts members, and without a member all requests have the same one, so nearly nothing is"
                        + " limited; add " + here + "member = header:X-User");
        Problems.refuseIf(
                !counted && !charging.member().isEmpty(),
                "RL-163 none of its policies counts members; add a limit such as 5/1h distinct, or remove this line");
        Problems.refuseIf(
                counted && key.containsAll(charging.member()),
                "RL-164 the key has it too, so each key has one member and nearly nothing is limited; write another member,"
                        + " or another key");
        Problems.refuseIf(
                counted && !charging.maxWait().isZero(),
                "RL-106 its policy counts members, and no request can wait for that; remove the wait");
    }

    private static void checkPlans(@Nullable RulePlans plans, List<KeyPart> key) {
        Problems.refuseIf(
                plans != null
                        && plans.source() == RulePlans.Source.RESOLVER
                        && key.stream().allMatch(part -> part.kind() == KeyPart.Kind.CLASS),
                "RL-170 a resolver gets a part of the key in clear, and " + (key.isEmpty() ? "global" : key)
                        + " has none; write another key, or find the plan in a rule in code");
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
