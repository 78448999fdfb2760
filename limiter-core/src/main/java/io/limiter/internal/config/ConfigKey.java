package io.limiter.internal.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A property of the table in {@code properties.txt}.
 *
 * @param name with {@code <name>} for the name of a policy, plan or rule
 * @param type the kind of its values
 * @param range the least and the greatest value, as text; empty for no range
 * @param usual the value unless it is set; null for none
 * @param flags {@code restart}, {@code http}, {@code spring}, {@code was OLD.NAME}
 * @param sentence what it means, for people
 * @param choices what it can be, with a sentence for each; empty for other types
 */
public record ConfigKey(
        String name,
        Type type,
        List<String> range,
        @Nullable String usual,
        Set<String> flags,
        String sentence,
        Map<String, String> choices) {
    /** The kind of a value. */
    public enum Type {
        /** True or false. */
        BOOLEAN,
        /** A whole number, not negative. */
        NUMBER,
        /** A whole number with a sign. */
        INTEGER,
        /** A time with a unit. */
        DURATION,
        /** A short time with a unit. */
        WAIT,
        /** Text of any kind. */
        TEXT,
        /** Items separated by commas. */
        LIST,
        /** One of the choices. */
        CHOICE,
        /** The name of a class. */
        CLASS,
        /** The location of a file. */
        FILE
    }

    /** The same property below another name. */
    ConfigKey named(String other) {
        return new ConfigKey(other, type, range, usual, flags, sentence, choices);
    }

    /** Whether only a restart changes it. */
    public boolean needsRestart() {
        return flags.contains("restart");
    }

    /** Whether only Spring Boot applications have it. */
    public boolean isOfSpring() {
        return flags.contains("spring");
    }

    /** How it was called before; null if it always had this name. */
    public @Nullable String oldName() {
        return flags.stream()
                .filter(flag -> flag.startsWith("was "))
                .map(flag -> flag.substring(4))
                .findFirst()
                .orElse(null);
    }

    /**
     * Checks a value that its reader takes as it is.
     *
     * @throws IllegalArgumentException if it is not of this type
     */
    void check(String value) {
        Problems.refuseIf(type == Type.BOOLEAN && !value.matches("true|false"), "not a boolean; write true or false");
        Problems.refuseIf(
                type == Type.INTEGER
                        && !(value.matches("[+-]?[0-9]{1,10}") && Long.parseLong(value) == (int) Long.parseLong(value)),
                "not a whole number; write one such as 0 or -50");
    }
}
