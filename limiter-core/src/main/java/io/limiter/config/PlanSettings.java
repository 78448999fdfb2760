package io.limiter.config;

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
 * @param longestWait the longest that a request waits for a lookup, up to 10 s
 * @param expiry after which time a plan is looked up again, from 1 s to 1 day
 * @param maxEntries how many callers with a plan are remembered, and as many without
 * @param maxPerMinute how many lookups begin in a minute, for each rule
 * @param async whether a request that waits for a lookup is held without a thread, and dispatched again afterwards
 */
public record PlanSettings(
        Map<String, List<Limit>> limits,
        Duration longestWait,
        Duration expiry,
        int maxEntries,
        int maxPerMinute,
        boolean async) {
    /** The defaults. */
    public static final PlanSettings DEFAULT =
            new PlanSettings(Map.of(), Duration.ofMillis(50), Duration.ofMinutes(1), 10_000, 6_000, false);

    private static final String LOOKUP = "limiter.plan-lookup.";
    private static final int MOST = 1 << 24;

    /**
     * Checks the settings.
     *
     * @throws ConfigException if one is out of range
     */
    public PlanSettings {
        Problems problems = new Problems();
        limits.forEach((plan, of) -> problems.on(Group.PLANS.start + plan + ".limits", of)
                .must(
                        plan.matches("[A-Za-z0-9_-]{1,32}"),
                        "'" + plan + "' can't name a plan; use 1 to 32 of A-Z a-z 0-9 _ -"));
        problems.on(LOOKUP + "wait", longestWait)
                .must(
                        !longestWait.isNegative() && longestWait.compareTo(Duration.ofSeconds(10)) <= 0,
                        "not a duration from 0ms to 10s; write one such as 50ms");
        problems.on(LOOKUP + "expiry", expiry)
                .must(
                        expiry.compareTo(Duration.ofSeconds(1)) >= 0 && expiry.compareTo(Duration.ofDays(1)) <= 0,
                        "not a duration from 1s to 1d; write one such as 1m");
        problems.range(LOOKUP + "max-entries", maxEntries, 1, MOST);
        problems.range(LOOKUP + "max-per-minute", maxPerMinute, 1, MOST);
        problems.throwIfAny();
        limits = Collections.unmodifiableMap(new LinkedHashMap<>(limits));
    }

    /** The settings of the entries. */
    static PlanSettings read(Entries entries) {
        Map<String, List<Limit>> limits = new LinkedHashMap<>();
        for (String plan : Group.PLANS.names(entries.all())) {
            List<Limit> parsed = entries.read(Group.PLANS.start + plan + ".limits", LimitText::parseAll);
            if (parsed != null) {
                limits.put(plan, parsed);
            }
        }
        return new PlanSettings(
                limits,
                entries.read(LOOKUP + "wait", DEFAULT.longestWait, LimitText::parseDuration),
                entries.read(LOOKUP + "expiry", DEFAULT.expiry, LimitText::parseDuration),
                entries.number(LOOKUP + "max-entries", DEFAULT.maxEntries),
                entries.number(LOOKUP + "max-per-minute", DEFAULT.maxPerMinute),
                entries.yes(LOOKUP + "async", DEFAULT.async));
    }
}
