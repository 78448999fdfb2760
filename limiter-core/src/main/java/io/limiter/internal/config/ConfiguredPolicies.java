package io.limiter.internal.config;

import io.limiter.Policy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All policies of a configuration: those that have a name of their own, and those of its rules. */
final class ConfiguredPolicies {
    private ConfiguredPolicies() {}

    /** By name, in the order of the text; reports rules and policies with a name that is already in use. */
    static Map<String, Policy> of(Map<String, Policy> configured, List<RuleDefinition> rules, PropertyReader reader) {
        Map<String, Policy> all = new LinkedHashMap<>(configured);
        for (RuleDefinition rule : rules) {
            String name = rule.name();
            String here = NamedKeys.RULES.start + name + ".";
            reader.must(
                    here + "member",
                    !rule.charging().member().isEmpty()
                            || rule.policies().stream().noneMatch(Policy::takesMembers),
                    "RL-164 the policy of rule '" + name
                            + "' counts members, and without a member all requests have the same one, so nearly"
                            + " nothing is limited; add " + here + "member = header:X-User");
            for (Policy policy : rule.policies()) {
                Policy other = all.putIfAbsent(policy.name(), policy);
                reader.must(
                        here + "limits",
                        other == null || other.equals(policy),
                        rule.charging().plans() != null
                                ? "RL-106 rule '" + name + "' has the policy '" + policy.name()
                                        + "' for a plan, and there is another policy of that name; rename one of the two"
                                : "RL-106 rule '" + name
                                        + "' has limits of its own, and there is a policy of its name; write "
                                        + here + "policy = " + policy.name() + ", or rename one of the two");
            }
        }
        return all;
    }
}
