package io.limiter.internal.config;

import io.limiter.Policy;
import io.limiter.internal.config.RequestCost.ActualCost;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request, which responses keep the charge, and what happens if it is denied. Immutable.
 *
 * @param policy the policy that it charges; with plans that of the default plan
 * @param plans the policies by plan of the caller; null for one policy
 * @param cost how many permits a request costs
 * @param outcomes which responses keep it; null for all
 * @param member the parts of the member of a request, like those of a key, for policies that count members; empty for none
 * @param actual where the application tells what a request has cost, if the cost is an estimate; null if it is final
 * @param maxWait how long a request that the rule denies is held until its permits are due; zero for not at all
 */
public record ChargeOptions(
        Policy policy,
        @Nullable RulePlans plans,
        RequestCost cost,
        @Nullable CountedOutcomes outcomes,
        List<KeyPart> member,
        @Nullable ActualCost actual,
        Duration maxWait) {
    /** The options of the properties below a key. */
    static ChargeOptions read(PropertyReader reader, String here, Policy policy, @Nullable RulePlans plans) {
        RequestCost cost = RequestCost.read(reader, here, reader.has(here + "settle"));
        CountedOutcomes outcomes = outcomes(reader, here);
        List<KeyPart> member = reader.read(here + "member", List.of(), ChargeOptions::member);
        ActualCost actual = ActualCost.read(reader, here, cost);
        Duration maxWait = reader.duration(here + "wait", Duration.ZERO);
        return new ChargeOptions(policy, plans, cost, outcomes, member, actual, maxWait);
    }

    private static List<KeyPart> member(String text) {
        List<KeyPart> parts = KeyPart.parseAll(text);
        Problems.refuseIf(parts.isEmpty(), "with one member for all there is nothing to count; write header:X-User");
        return parts;
    }

    private static @Nullable CountedOutcomes outcomes(PropertyReader reader, String here) {
        CountedOutcomes counted =
                reader.read(here + "count-on", text -> CountedOutcomes.of(true, LimitText.items(text)));
        CountedOutcomes refunded =
                reader.read(here + "refund-on", text -> CountedOutcomes.of(false, LimitText.items(text)));
        return counted != null ? counted : refunded;
    }

    /** Whether the user must be known, for the plan or the member. */
    boolean needsUser() {
        return plans != null && plans.source() == RulePlans.Source.USER
                || member.stream().anyMatch(part -> part.kind().is(KeyPart.Trait.NEEDS_USER));
    }

    /** All policies that it may charge. */
    public Collection<Policy> policies() {
        return plans == null ? List.of(policy) : plans.policies().values();
    }

    /**
     * The plans of a rule: each caller has one of them, with its limits. The policy of a plan is named {@code
     * <rule>.<plan>}, so two rules with the same plan have separate quotas. Immutable.
     *
     * @param source where the plan of a caller is found
     * @param name the name of the header or user attribute, or the class of an {@code io.limiter.rule.PlanResolver}
     * @param policies by plan
     */
    public record RulePlans(Source source, String name, Map<String, Policy> policies) {
        /** Where the plan of a caller is found. */
        public enum Source {
            /** A request header: {@code header:X-Plan}. */
            HEADER("header:"),
            /** An attribute of the authenticated user: {@code user:plan}. */
            USER("user:"),
            /** A class, or a bean of it: {@code com.example.Plans}. */
            RESOLVER("");

            private final String prefix;

            Source(String prefix) {
                this.prefix = prefix;
            }
        }

        /**
         * Checks the name.
         *
         * @throws IllegalArgumentException if the name does not fit the source
         */
        public RulePlans {
            Problems.refuseIf(
                    source == Source.RESOLVER ? !ConfigKey.isClassName(name) : !ConfigKey.isName(name),
                    "'" + source.prefix + name
                            + "' is not a source of plans; write header:X-Plan, user:plan, or the name of a class such as"
                            + " com.example.Plans");
        }

        /** Parses configuration text. */
        static RulePlans parse(String text, Map<String, Policy> policies) {
            // The last one has no prefix.
            Source source = Arrays.stream(Source.values())
                    .filter(one -> text.startsWith(one.prefix))
                    .findFirst()
                    .orElseThrow();
            return new RulePlans(source, text.substring(source.prefix.length()), policies);
        }

        /** As configuration text writes it. */
        @Override
        public String toString() {
            return source.prefix + name;
        }
    }
}
