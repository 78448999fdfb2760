package io.limiter.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request, which responses keep the charge, and what happens if it is denied. Immutable.
 *
 * @param cost how many permits a request costs
 * @param outcomes which responses keep it; null for all
 * @param plans the policies by plan of the caller; null for one policy
 * @param maxWait how long a request that the rule denies is held until its permits are due; zero for not at all
 */
public record Charging(
        RequestCost cost,
        @Nullable Outcomes outcomes,
        @Nullable RulePlans plans,
        Duration maxWait) {
    /** One permit for each request, whatever the response. */
    public static final Charging ONE_PERMIT = new Charging(RequestCost.of(1), null, null, Duration.ZERO);

    /** What the properties below a key say. */
    static Charging read(Entries entries, String here, @Nullable RulePlans plans) {
        return new Charging(RequestCost.read(entries, here), outcomes(entries, here), plans, maxWait(entries, here));
    }

    /** Whether the user must be known, because the plan is one of the user's attributes. */
    boolean needsUser() {
        return plans != null && plans.source() == RulePlans.Source.USER;
    }

    /** The same with this cost. */
    public Charging withCost(RequestCost other) {
        return new Charging(other, outcomes, plans, maxWait);
    }

    /** The same with these outcomes. */
    public Charging withOutcomes(Outcomes others) {
        return new Charging(cost, others, plans, maxWait);
    }

    /** The same with these plans. */
    public Charging withPlans(RulePlans others) {
        return new Charging(cost, outcomes, others, maxWait);
    }

    /** The same with this wait. */
    public Charging withMaxWait(Duration longest) {
        return new Charging(cost, outcomes, plans, longest);
    }

    /** A wait that is written is never zero: that would be a rule without one. */
    private static Duration maxWait(Entries entries, String here) {
        return entries.read(here + "wait", Duration.ZERO, text -> {
            Duration wait = LimitText.parseDuration(text);
            Problems.refuseIf(wait.isZero(), "no wait; write one such as 500ms, or remove this line");
            return wait;
        });
    }

    private static @Nullable Outcomes outcomes(Entries entries, String here) {
        Outcomes counted = entries.read(here + "count-on", text -> new Outcomes(true, LimitText.items(text)));
        Outcomes refunded = entries.read(here + "refund-on", text -> new Outcomes(false, LimitText.items(text)));
        if (entries.get(here + "count-on") != null && entries.get(here + "refund-on") != null) {
            entries.note(
                    here + "refund-on",
                    "RL-106 the rule has count-on too, which lists what counts; keep one of the two");
        }
        return counted != null ? counted : refunded;
    }
}
