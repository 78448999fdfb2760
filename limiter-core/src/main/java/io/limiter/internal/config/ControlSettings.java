package io.limiter.internal.config;

import org.jspecify.annotations.Nullable;

/**
 * Whether and how this instance follows what is published in Redis. Immutable.
 *
 * @param group whose published text is followed; null for none
 * @param secret with which it is signed; null for none
 */
public record ControlSettings(
        @Nullable String group, @Nullable String secret) {
    private static final String HERE = "limiter.control.";

    static ControlSettings read(PropertyReader reader) {
        ControlSettings read = new ControlSettings(reader.text(HERE + "group"), reader.text(HERE + "secret"));
        reader.need(
                HERE + "secret", HERE + "group", "RL-105 nothing is read without a group; add limiter.control.group");
        reader.need(
                HERE + "group",
                HERE + "secret",
                "RL-105 what is published is signed; add limiter.control.secret, the same in all instances");
        reader.must(
                HERE + "group",
                read.group == null || !reader.is("limiter.backend", "in-process"),
                "RL-106 what is published is in Redis, and the backend is in-process; remove one of the two lines");
        return read;
    }

    /** Contains no secret. */
    @Override
    public String toString() {
        return "ControlSettings[" + group + "]";
    }
}
