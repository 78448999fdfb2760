package io.limiter.control;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.config.RuleDefinition;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What lies over the configuration of an instance: the published text, key by key, and over that the switches of rules. Immutable.
 *
 * @param text without one, that of {@link Published#NONE}
 * @param switches those of rules
 */
record Layer(Published text, List<Entry> switches) {
    /** What a word of {@code limiter.control.accepts} takes. */
    private static final Map<String, String> TAKEN = Map.of(
            "limits", "limiter\\.(policies|rules)\\..+\\.limits",
            "plans", "limiter\\.plans\\..+\\.limits",
            "shadow", "limiter\\.rules\\..+\\.shadow");

    /** How an instance is connected, and what it takes, is its own matter. */
    private static final String NEVER = "limiter\\.(redis|control)\\..*|limiter\\.backend|limiter\\.enabled";

    /**
     * A configuration with this over it.
     *
     * @throws IllegalArgumentException with all mistakes
     */
    LimiterConfig over(LimiterConfig own) {
        LimiterConfig published = text.text().isEmpty() ? own : textOver(own).build();
        Set<String> rules =
                published.settings().rules().stream().map(RuleDefinition::name).collect(Collectors.toSet());
        String lines = switches.stream()
                .filter(one -> rules.contains(one.rule()))
                .map(one -> "limiter.rules." + one.rule()
                        + (one.to().equals(Entry.OFF) ? ".enabled = false\n" : ".shadow = true\n"))
                .collect(Collectors.joining());
        if (lines.isEmpty()) {
            return published;
        }
        LimiterConfig.Builder all = textOver(own);
        Words.values(all, "switch", lines);
        return all.build();
    }

    private LimiterConfig.Builder textOver(LimiterConfig own) {
        LimiterConfig.Builder all = own.toBuilder();
        ControlSettings control = own.settings().operation().control();
        Set<String> classes = own.namedClasses();
        Words.values(all, text.source(), text.text()).forEach((key, value) -> {
            String mistake = mistake(key, value, control, classes);
            if (mistake != null) {
                all.mistake(text.source(), 0, key, mistake);
            }
        });
        return all;
    }

    /** Why a property is not taken from a publisher; null if it is. */
    static @Nullable String mistake(String key, String value, ControlSettings control, Set<String> classes) {
        if (key.chars().anyMatch(Character::isISOControl) || value.chars().anyMatch(Character::isISOControl)) {
            return "RL-503 a key or value has control characters; remove them";
        }
        if (key.matches(NEVER)) {
            return "RL-504 " + key + " can't be published; write it into the configuration of each instance";
        }
        if (!control.takes(ControlSettings.ALL)
                && TAKEN.entrySet().stream()
                        .noneMatch(one -> control.takes(one.getKey()) && key.matches(one.getValue()))) {
            return "RL-504 " + key + " is not taken here: limiter.control.accepts = "
                    + String.join(", ", control.accepts()) + "; remove it";
        }
        return ConfigText.namedClass(key, value).stream()
                .filter(type -> !classes.contains(type))
                .map(type -> "RL-504 " + key + " names the class " + type.strip()
                        + ", and a published text may name only classes that the instance's own configuration names;"
                        + " add it there")
                .findFirst()
                .orElse(null);
    }
}
