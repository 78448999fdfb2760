package io.limiter.internal.config;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how this instance follows what is published in Redis. Immutable.
 *
 * @param group whose published text is followed; null for none
 * @param secret with which it is signed; null for none
 * @param accepts what is taken: {@link #ALL}, or some of limits, plans, shadow, overrides, switches
 */
public record ControlSettings(
        @Nullable String group, @Nullable String secret, Set<String> accepts) {
    /** Everything is taken. */
    public static final String ALL = "all";

    private static final String HERE = "limiter.control.";

    static ControlSettings read(PropertyReader reader) {
        ControlSettings read = new ControlSettings(
                reader.text(HERE + "group"),
                reader.text(HERE + "secret"),
                Set.copyOf(reader.read(HERE + "accepts", List.of(ALL), LimitText::items)));
        String needsGroup = "RL-105 nothing is read without a group; add limiter.control.group";
        reader.need(HERE + "secret", HERE + "group", needsGroup);
        reader.need(
                HERE + "group",
                HERE + "secret",
                "RL-105 what is published is signed; add limiter.control.secret, the same in all instances");
        reader.must(HERE + "accepts", reader.has(HERE + "group") || read.takes(ALL), needsGroup);
        reader.must(
                HERE + "group",
                read.group == null || !reader.is("limiter.backend", "in-process"),
                "RL-106 what is published is in Redis, and the backend is in-process; remove one of the two lines");
        return read;
    }

    /** Whether a kind of publication is taken. */
    public boolean takes(String kind) {
        return accepts.contains(ALL) || accepts.contains(kind);
    }

    /** Contains no secret. */
    @Override
    public String toString() {
        return "ControlSettings[" + group + ", accepts " + accepts + "]";
    }
}
