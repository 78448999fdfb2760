package io.limiter.internal.config;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A property of the table in {@code properties.txt}.
 *
 * @param name with {@code <name>} for the name of a policy, plan or rule
 * @param type the kind of its values
 * @param range the least and the greatest value, as text; empty for no range
 * @param usual the value unless it is set; null for none
 * @param flags {@code restart}, {@code spring}
 * @param about what it means, for people; then its choices and its form, as the head of the table explains
 */
public record ConfigKey(
        String name,
        Type type,
        List<String> range,
        @Nullable String usual,
        Set<String> flags,
        List<String> about) {
    private static final Pattern FORM = Pattern.compile("! unlike (?<form>\\S+): (?<text>.+)");

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
        return new ConfigKey(other, type, range, usual, flags, about);
    }

    /** Whether only a restart changes it. */
    public boolean needsRestart() {
        return flags.contains("restart");
    }

    /** Whether only Spring Boot applications have it. */
    public boolean isOfSpring() {
        return flags.contains("spring");
    }

    /** What it means, for people. */
    public String sentence() {
        return about.get(0);
    }

    /**
     * Checks a value by itself.
     *
     * @throws IllegalArgumentException if it is not of this type or form
     */
    void check(String value) {
        for (String line : about) {
            Matcher form = FORM.matcher(line);
            Problems.refuseIf(
                    form.matches()
                            && !Pattern.compile(form.group("form"), Pattern.DOTALL)
                                    .matcher(value)
                                    .matches(),
                    line.substring(line.indexOf(": ") + 2));
        }
        switch (type) {
            case BOOLEAN -> Problems.refuseIf(!value.matches("true|false"), "not a boolean; write true or false");
            case INTEGER ->
                Problems.refuseIf(
                        !value.matches("[+-]?[0-9]{1,10}") || Long.parseLong(value) != (int) Long.parseLong(value),
                        "not a whole number; write one such as 0 or -50");
            case NUMBER ->
                Problems.refuseIf(
                        !range.isEmpty() && (!value.matches("0|0*[1-9][0-9]{0,17}") || isOutside(Long::valueOf, value)),
                        "not a whole number from " + bounds() + "; write one of these");
            case DURATION ->
                Problems.refuseIf(
                        isOutside(LimitText::parseDuration, value),
                        "not a duration from " + bounds() + "; write one such as "
                                + Objects.requireNonNullElse(usual, "5s"));
            case WAIT ->
                Problems.refuseIf(
                        isOutside(LimitText::parseDuration, value),
                        "outside " + bounds() + "; write a duration such as 50ms");
            case CLASS ->
                Problems.refuseIf(
                        !isClassName(value),
                        "not the name of a class; write it with its package, such as com.example.MyRejections");
            default -> {}
        }
    }

    private <T extends Comparable<T>> boolean isOutside(Function<String, T> parser, String value) {
        T parsed = parser.apply(value);
        return parsed.compareTo(parser.apply(range.get(0))) < 0 || parsed.compareTo(parser.apply(range.get(1))) > 0;
    }

    private String bounds() {
        return String.join(" to ", range);
    }

    static boolean isClassName(String text) {
        String word = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*";
        return text.matches("(?=.{1,500}$)" + word + "(\\." + word + ")*");
    }

    /**
     * Whether a text can name a header, a cookie or a parameter. RFC 9110, section 5.6.2, allows more ({@code * | ! ' +}), which is
     * only written where a pattern is meant: such a name would be missing in every request.
     */
    static boolean isName(String text) {
        return text.matches("\\$?[A-Za-z0-9._-]+");
    }
}
