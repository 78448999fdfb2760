package io.limiter.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request, which responses keep the charge, and what happens if it is denied. Immutable.
 *
 * @param cost how many permits a request costs
 * @param outcomes which responses keep it; null for all
 * @param plans the policies by plan of the caller; null for one policy
 * @param member the parts of the member of a request, like those of a key, for policies that count members; empty for none
 * @param maxWait how long a request that the rule denies is held until its permits are due; zero for not at all
 */
public record Charging(
        RequestCost cost,
        @Nullable Outcomes outcomes,
        @Nullable RulePlans plans,
        List<KeyPart> member,
        Duration maxWait) {
    /** One permit for each request, whatever the response. */
    public static final Charging ONE_PERMIT = new Charging(RequestCost.of(1), null, null, List.of(), Duration.ZERO);

    /** Copies the member. */
    public Charging {
        member = List.copyOf(member);
    }

    /** The settings of the properties below a key. */
    static Charging read(Entries entries, String here, @Nullable RulePlans plans) {
        return new Charging(
                RequestCost.read(entries, here),
                outcomes(entries, here),
                plans,
                entries.read(here + "member", List.of(), Charging::member),
                maxWait(entries, here));
    }

    private static List<KeyPart> member(String text) {
        List<KeyPart> parts = KeyPart.parseAll(text);
        Problems.refuseIf(parts.isEmpty(), "with one member for all there is nothing to count; write header:X-User");
        return parts;
    }

    /** Whether the user must be known, for the plan or the member. */
    boolean needsUser() {
        return plans != null && plans.source() == RulePlans.Source.USER
                || member.stream().anyMatch(part -> part.kind() == KeyPart.Kind.USER);
    }

    /** A wait that is set is never zero; omit it instead. */
    private static Duration maxWait(Entries entries, String here) {
        return entries.read(here + "wait", Duration.ZERO, text -> {
            Duration wait = LimitText.parseDuration(text);
            Problems.refuseIf(wait.isZero(), "a wait of zero; write one such as 500ms, or remove this line");
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
