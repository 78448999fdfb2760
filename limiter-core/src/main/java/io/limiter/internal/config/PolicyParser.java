package io.limiter.internal.config;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of policies below a key, besides their limits.
 *
 * @param mode what answers when Redis can't; null for the default of the limits
 * @param deadline the longest that a decision waits; null for the backend's
 * @param block blocks a key after many denials; null for none
 */
record PolicyParser(
        @Nullable FailureMode mode,
        @Nullable Duration deadline,
        @Nullable Limit block) {
    static PolicyParser read(PropertyReader reader, String here) {
        FailureMode mode = reader.choice(here + "on-failure", "mode", FailureMode.LOCAL);
        return new PolicyParser(
                reader.has(here + "on-failure") ? mode : null,
                reader.duration(here + "deadline"),
                reader.read(here + "block", LimitText::parseBlock));
    }

    /** The policy of all entries below a key; null when it is wrong, which is noted. */
    static @Nullable Policy policy(PropertyReader reader, String name, String here) {
        PolicyParser read = read(reader, here);
        Map<String, String> times = new HashMap<>();
        for (String time : LimitText.TIMES) {
            String written = reader.text(here + time);
            if (written != null) {
                times.put(time, written);
            }
        }
        String limits = here + "limits";
        if (!reader.has(limits)) {
            reader.note(limits, "RL-105 policy '" + name + "' has no limits; add " + limits + " = 3/10s");
        }
        return reader.read(limits, text -> read.policy(name, LimitText.parseAll(text, times)));
    }

    /** The policies of plans for a rule. */
    Map<String, Policy> ofPlans(String rule, Map<String, List<Limit>> plans) {
        Map<String, Policy> all = new LinkedHashMap<>();
        plans.forEach((plan, limits) -> all.put(plan, policy(rule + "." + plan, limits)));
        return all;
    }

    private Policy policy(String name, List<Limit> limits) {
        List<Limit> all = LimitText.with(block, limits);
        Policy usual = Policy.of(name, all.toArray(Limit[]::new));
        return Policy.of(name, all)
                .withFailureMode(mode == null ? usual.onFailure() : mode)
                .withDeadline(deadline);
    }
}
