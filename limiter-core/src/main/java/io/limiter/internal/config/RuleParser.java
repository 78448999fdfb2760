package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RuleDefinition.Position;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Makes a rule of the properties below its name. Used once. */
final class RuleParser {
    /** Replaces the invalid policy of a rule, so that the rule's other mistakes are found too. */
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
        ChargeOptions charging = policy == null
                ? withoutPolicy(ChargeOptions.read(reader, here, ANY, null))
                : ChargeOptions.read(reader, here, policy, plans);
        RuleDefinition rule = new RuleDefinition(
                name,
                scope,
                key,
                (int) reader.number(here + "ipv6-prefix", clientIp.ipv6PrefixBits()),
                reader.choice(here + "position", "position", Position.of(key, scope, charging)),
                mode(),
                charging);
        new RuleChecks(rule, reader).run();
        return rule;
    }

    /** Whether a policy with a mistake counts members is unknown. */
    private static ChargeOptions withoutPolicy(ChargeOptions read) {
        return new ChargeOptions(read.policy(), null, read.cost(), read.outcomes(), List.of(), read.maxWait());
    }

    private Mode mode() {
        boolean shadow = reader.yes(here + "shadow");
        return !reader.yes(here + "enabled") ? Mode.OFF : shadow ? Mode.SHADOW : Mode.ENFORCED;
    }

    /** The plans of the rule, each with a policy; null when something is wrong, which is noted. */
    private @Nullable RulePlans plans(PlanSettings plans) {
        BiFunction<String, List<Limit>, Policy> named = PolicyParser.named(reader, here);
        return reader.read(here + "plan", text -> {
            Map<String, Policy> policies = new LinkedHashMap<>();
            plans.limits().forEach((plan, limits) -> policies.put(plan, named.apply(name + "." + plan, limits)));
            return RulePlans.parse(text, policies);
        });
    }

    /** The policy of the default plan; null when there is none, which is noted. */
    private @Nullable Policy policyOfDefaultPlan(@Nullable RulePlans plans) {
        String key = here + "default-plan";
        String plan = reader.text(key);
        // Also the plans with a mistake, which are already reported.
        Set<String> known = NamedKeys.PLANS.names(reader.all());
        if (plan == null) {
            reader.note(
                    key,
                    "RL-105 rule '" + name + "' has no plan for callers without one; add " + key + " = "
                            + known.stream().findFirst().orElse("free"));
        } else if (!known.contains(plan)) {
            reader.note(
                    key,
                    "RL-169 there is no such plan; add " + NamedKeys.PLANS.start + plan + ".limits = 100/1m"
                            + Suggestion.of(plan, known));
        }
        return plans == null ? null : plans.policies().get(plan);
    }

    /** The policy that the rule names, or its own; null when it is wrong, which is noted. */
    private @Nullable Policy policy(Map<String, Policy> policies, Set<String> named) {
        ConfigEntry reference = reader.get(here + "policy");
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
}
