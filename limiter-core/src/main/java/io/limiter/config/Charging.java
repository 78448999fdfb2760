package io.limiter.config;

import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request, and which responses keep the charge. Immutable.
 *
 * @param outcomes which responses keep it; null for all
 */
public record Charging(@Nullable Outcomes outcomes) {
    /** One permit for each request, whatever the response. */
    public static final Charging ONE_PERMIT = new Charging(null);

    /** What the properties below a key say. */
    static Charging read(Entries entries, String here) {
        return new Charging(outcomes(entries, here));
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
