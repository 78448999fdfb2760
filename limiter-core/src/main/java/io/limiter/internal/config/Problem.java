package io.limiter.internal.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A mistake in the configuration.
 *
 * @param at the property and its value; without a key where only the place counts
 * @param text begins with a code of docs/diagnostics.md, unless the value itself is wrong
 */
record Problem(ConfigEntry at, String text) {
    private static final int LONGEST_VALUE = 120;
    private static final Pattern SECRET = Pattern.compile("(?i)pas|pwd|psw|secret|token|credential|[.-]auth$");
    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

    String place(boolean oneSource) {
        String place = (oneSource ? "" : at.source() + " ") + (at.line() > 0 ? "line " + at.line() : "");
        return place.isEmpty() ? "" : place.strip() + ": ";
    }

    String message() {
        String coded = text.startsWith("RL-") ? text : "RL-104 " + text;
        return at.key().isEmpty()
                ? coded
                : coded.replaceFirst(
                        " ",
                        Matcher.quoteReplacement(" " + shown(at.key()) + " = " + shown(at.key(), at.value()) + ": "));
    }

    /** A value for a message. The conditions of a rule may contain credentials. */
    static String shown(String key, String value) {
        boolean hasConditions = NamedKeys.RULES.name(key) != null && key.matches(".*\\.(headers|query)");
        return SECRET.matcher(key).find() ? "***" : shown(hasConditions ? value.replaceAll("=[^,]*", "=***") : value);
    }

    /** Text for a message: one line, of limited length, without a password. */
    static String shown(String text) {
        int at = text.lastIndexOf('@');
        String masked = (at < 0 ? text : "***" + text.substring(at)).replaceFirst("(://[^?]*\\?).*", "$1***");
        String plain = CONTROL.matcher(masked)
                .replaceAll(control ->
                        String.format("\\\\u%04x", (int) control.group().charAt(0)));
        return plain.length() > LONGEST_VALUE ? plain.substring(0, LONGEST_VALUE) + "..." : plain;
    }
}
