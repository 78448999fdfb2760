package io.limiter.internal.config;

import io.limiter.Limit;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The existing plans, and how those of callers are looked up. Immutable.
 *
 * @param limits by plan
 * @param longestWait the longest that a request waits for a lookup
 * @param expiry after which time a plan is looked up again
 * @param maxEntries how many callers with a plan are remembered, and as many without
 */
public record PlanSettings(Map<String, List<Limit>> limits, Duration longestWait, Duration expiry, int maxEntries) {
    private static final String LOOKUP = "limiter.plan-lookup.";

    /** Copies the limits. */
    public PlanSettings {
        limits = Collections.unmodifiableMap(new LinkedHashMap<>(limits));
    }

    static PlanSettings read(PropertyReader reader) {
        Map<String, List<Limit>> limits = new LinkedHashMap<>();
        for (String plan : NamedKeys.PLANS.names(reader.all())) {
            String key = NamedKeys.PLANS.start + plan + ".limits";
            List<Limit> parsed = reader.read(key, LimitText::parseAll);
            reader.must(
                    key,
                    plan.matches("[A-Za-z0-9_-]{1,32}"),
                    "'" + plan + "' can't name a plan; use 1 to 32 of A-Z a-z 0-9 _ -");
            if (parsed != null) {
                limits.put(plan, parsed);
            }
        }
        return new PlanSettings(
                limits,
                reader.duration(LOOKUP + "wait", Duration.ZERO),
                reader.duration(LOOKUP + "expiry", Duration.ZERO),
                reader.number(LOOKUP + "max-entries"));
    }
}
