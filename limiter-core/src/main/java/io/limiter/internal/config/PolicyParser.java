package io.limiter.internal.config;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Makes policies of the properties below a key. */
final class PolicyParser {
    private PolicyParser() {}

    /** The policy of all properties below a key; null when it is wrong, which is noted. */
    static @Nullable Policy policy(PropertyReader reader, String name, String here) {
        String limits = here + "limits";
        if (!reader.has(limits)) {
            reader.note(limits, "RL-105 policy '" + name + "' has no limits; add " + limits + " = 3/10s");
        }
        BiFunction<String, List<Limit>, Policy> named = named(reader, here);
        return reader.read(limits, text -> named.apply(name, LimitText.parseAll(text)));
    }

    /** Makes a policy of a name and limits by the other properties below a key. */
    static BiFunction<String, List<Limit>, Policy> named(PropertyReader reader, String here) {
        FailureMode mode =
                reader.read(here + "on-failure", text -> PropertyReader.chosen(text, "mode", FailureMode.LOCAL));
        Duration deadline = reader.duration(here + "deadline");
        Limit block = reader.read(here + "block", LimitText::parseBlock);
        int holds = reader.number(here + "holds");
        return (name, limits) -> {
            List<Limit> all = new ArrayList<>(limits);
            if (block != null) {
                all.add(block);
            }
            Policy policy = Policy.of(name, all).withDeadline(deadline).withHolds(holds);
            return mode == null ? policy : policy.withFailureMode(mode);
        };
    }
}
