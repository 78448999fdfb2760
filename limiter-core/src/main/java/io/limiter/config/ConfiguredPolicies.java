package io.limiter.config;

import io.limiter.Policy;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All policies of a configuration: those that have a name of their own, and those of its rules. */
final class ConfiguredPolicies {
    private ConfiguredPolicies() {}

    /** By name, in the order of the text; reports rules and policies with a name that is already in use. */
    static Map<String, Policy> of(Collection<Policy> configured, List<RuleDefinition> rules, Problems problems) {
        Map<String, Policy> all = new LinkedHashMap<>();
        for (Policy policy : configured) {
            Policy other = all.putIfAbsent(policy.name(), policy);
            Problems.refuseIf(
                    other != null && !other.equals(policy),
                    "there are two policies '" + policy.name() + "'; rename one of the two");
        }
        Set<String> names = new HashSet<>();
        for (RuleDefinition rule : rules) {
            String name = rule.name();
            String here = Group.RULES.start + name + ".";
            problems.on(here + "path", rule.paths())
                    .must(names.add(name), "RL-106 there is another rule '" + name + "'; rename one of the two");
            problems.on(here + "member", rule.charging().member())
                    .must(
                            !rule.charging().member().isEmpty()
                                    || rule.policies().stream().noneMatch(Policy::takesMembers),
                            "RL-164 the policy of rule '" + name
                                    + "' counts members, and without a member all requests have the same one, so nearly"
                                    + " nothing is limited; add " + here + "member = header:X-User");
            for (Policy policy : rule.policies()) {
                Policy other = all.putIfAbsent(policy.name(), policy);
                problems.on(here + "limits", policy.limits())
                        .must(
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
