package io.limiter.config;

import io.limiter.config.RuleDefinition.Mode;
import java.util.ArrayList;
import java.util.List;

/** What a configuration makes not counted, not denied, or denied because of others, in sentences for the log and for reports. */
final class Uncounted {
    private Uncounted() {}

    static List<String> of(LimiterConfig config) {
        if (!config.enabled()) {
            return List.of("RL-118 nothing is limited, because limiter.enabled = false; remove it to limit again");
        }
        List<String> all = new ArrayList<>();
        addExempt("no rule counts", config.callers().exempt(), all);
        for (RuleDefinition rule : config.rules()) {
            String name = "rule '" + rule.name() + "'";
            if (rule.mode() == Mode.OFF) {
                all.add("RL-156 " + name + " is off and counts nothing; remove limiter.rules." + rule.name()
                        + ".enabled = false to limit again");
                continue;
            }
            if (rule.mode() == Mode.SHADOW) {
                all.add("RL-155 " + name + " only counts and denies nothing; remove limiter.rules." + rule.name()
                        + ".shadow = true to enforce it");
            }
            if (rule.letsOthersBlock()) {
                all.add("RL-175 " + name + " blocks keys that were denied too often, and anyone could block "
                        + (rule.key().isEmpty()
                                ? "all callers, because they have one key"
                                : "another caller, because a client can write that one's key " + rule.key())
                        + "; add ip to the key, or remove limiter.rules." + rule.name()
                        + ".block or that of its policy");
            }
            if (!rule.scope().except().isEmpty()) {
                all.add("RL-153 " + name + " does not count the paths "
                        + rule.scope().except());
            }
            addExempt(name + " does not count", rule.scope().exempt(), all);
        }
        return List.copyOf(all);
    }

    private static void addExempt(String what, Callers callers, List<String> all) {
        if (!callers.isEmpty()) {
            all.add("RL-154 " + what + " callers of " + callers);
        }
    }
}
