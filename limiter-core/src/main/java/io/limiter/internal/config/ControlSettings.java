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
    static ControlSettings read(PropertyReader reader) {
        return new ControlSettings(reader.text("limiter.control.group"), reader.text("limiter.control.secret"));
    }

    /** Contains no secret. */
    @Override
    public String toString() {
        return "ControlSettings[" + group + "]";
    }
}
