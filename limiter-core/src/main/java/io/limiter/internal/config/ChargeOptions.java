package io.limiter.internal.config;

import io.limiter.Policy;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
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
    /** The longest wait of a request. */
    public static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /** Copies the member. */
    public ChargeOptions {
        member = List.copyOf(member);
    }

    /** The options of the properties below a key. */
    static ChargeOptions read(PropertyReader reader, String here, Policy policy, @Nullable RulePlans plans) {
        RequestCost cost = RequestCost.read(reader, here, reader.has(here + "settle"));
        reader.refuseBeside(
                here + "refund-on",
                here + "count-on",
                "RL-106 the rule has count-on too, which lists what counts; keep one of the two");
        return new ChargeOptions(
                policy,
                plans,
                cost,
                outcomes(reader, here),
                reader.read(here + "member", List.of(), ChargeOptions::member),
                ActualCost.read(reader, here, cost),
                reader.read(here + "wait", Duration.ZERO, ChargeOptions::wait));
    }

    private static List<KeyPart> member(String text) {
        List<KeyPart> parts = KeyPart.parseAll(text);
        Problems.refuseIf(parts.isEmpty(), "with one member for all there is nothing to count; write header:X-User");
        return parts;
    }

    /** A wait that is set is never zero; omit it instead. */
    private static Duration wait(String text) {
        Duration wait = LimitText.parseDuration(text);
        Problems.refuseIf(wait.isZero(), "a wait of zero; write one such as 500ms, or remove this line");
        Problems.refuseIf(
                wait.compareTo(LONGEST_WAIT) > 0,
                "not a wait from 0ms to 1m: clients and proxies give up earlier; write one such as 500ms");
        return wait;
    }

    private static @Nullable CountedOutcomes outcomes(PropertyReader reader, String here) {
        CountedOutcomes counted =
                reader.read(here + "count-on", text -> new CountedOutcomes(true, LimitText.items(text)));
        CountedOutcomes refunded =
                reader.read(here + "refund-on", text -> new CountedOutcomes(false, LimitText.items(text)));
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
}
