package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.RuleDefinition.Position;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Whether the parts of a rule fit together. */
record RuleChecks(RuleDefinition rule, PropertyReader reader) {
    void run() {
        String here = NamedKeys.RULES.start + rule.name() + ".";
        ChargeOptions charging = rule.charging();
        List<String> paths = rule.scope().paths();
        reader.must(
                here + "name",
                rule.name().matches("[A-Za-z0-9._-]{1,64}"),
                "'" + rule.name() + "' can't name a rule; use 1 to 64 of A-Z a-z 0-9 . _ -");
        reader.check(here + "key", () -> checkKey(rule.key(), paths));
        reader.check(here + "member", () -> {
            checkKey(charging.member(), paths);
            checkMember(charging, rule.key());
        });
        reader.check(here + "cost", () -> rule.policies().forEach(one -> checkCost(charging.cost(), one)));
        reader.must(
                here + "shadow",
                rule.mode() != Mode.SHADOW || charging.outcomes() == null,
                "RL-106 a rule that only counts gives nothing back, so count-on and refund-on would report too many"
                        + " denials; remove them until the rule is enforced");
        reader.must(
                here + "wait",
                charging.maxWait().isZero() || rule.policies().stream().allMatch(one -> one.penalty() == null),
                "RL-177 a request that waits is denied first, and denials block here, so a caller that waits in good faith would"
                        + " be blocked; remove the wait or the block");
        reader.check(here + "plan", this::checkPlans);
        reader.must(
                here + "position",
                rule.position() == Position.AFTER_AUTHENTICATION
                        || Position.of(rule.key(), rule.scope(), charging) == rule.position(),
                "RL-146 before authentication no user is known, so neither a key, an exemption nor a plan can need one; write "
                        + here + "position = after-authentication, or remove this line");
    }

    /** A header that may exceed the limits is not a mistake: most requests cost less. */
    private static void checkCost(RequestCost cost, Policy policy) {
        for (Limit limit : policy.limits()) {
            Problems.refuseIf(
                    limit.spec().algorithm() == Algorithm.DISTINCT && !cost.isFree() && !cost.equals(RequestCost.of(1)),
                    "RL-165 '" + limit + "' of policy '" + policy.name()
                            + "' counts different members, and a request has one; remove the cost, or charge it by another"
                            + " rule");
            Problems.refuseIf(
                    cost.header() == null && cost.exceeds(limit),
                    "RL-165 no request could ever be allowed: '" + limit + "' of policy '" + policy.name()
                            + "' grants at most " + limit.spec().capacity()
                            + " at once; write a smaller cost or a greater limit");
        }
    }

    private void checkMember(ChargeOptions charging, List<KeyPart> key) {
        Collection<Policy> policies = charging.policies();
        boolean counted = policies.stream().anyMatch(Policy::takesMembers);
        String here = NamedKeys.RULES.start + rule.name() + ".";
        Problems.refuseIf(
                counted && charging.member().isEmpty(),
                "RL-164 the policy of rule '" + rule.name()
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

    private void checkPlans() {
        RulePlans plans = rule.charging().plans();
        boolean isResolved = plans != null && plans.source() == RulePlans.Source.RESOLVER;
        Problems.refuseIf(
                isResolved && rule.key().isEmpty(),
                "RL-170 with key = global all callers share one key, but a resolver needs one for each; write another"
                        + " key");
        Problems.refuseIf(
                isResolved && rule.key().stream().anyMatch(part -> part.kind() == KeyPart.Kind.CLASS),
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
