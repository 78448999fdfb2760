package io.limiter.internal.config;

import io.limiter.internal.rule.KeyFold;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Collects the mistakes in text, to report all of them together. */
public final class Problems {
    private static final int LONGEST_VALUE = 120;
    private static final Pattern SECRET = Pattern.compile("(?i)pas|pwd|psw|secret|token|credential|[.-]auth$");

    /**
     * What nobody sees: the characters of {@link io.limiter.internal.rule.KeyFold}, except a space, and except what joins
     * letters (Persian, Hindi) or pictures.
     */
    private static final Pattern UNSEEN = Pattern.compile("(?![ \\t\\r\\n]|(?<=\\p{So})\\x{FE0F}"
            + "|(?<=[\\p{L}\\p{M}\\p{S}&&[^\\p{ASCII}]])[\\x{200C}\\x{200D}](?=[\\p{L}\\p{S}&&[^\\p{ASCII}]]))"
            + KeyFold.INVISIBLE);

    /** UTF-8 that was read as ISO-8859-1, which is how Spring Boot reads .properties: two or more characters for one. */
    private static final Pattern MISREAD =
            Pattern.compile("[\\x{C2}-\\x{DF}][\\x{80}-\\x{BF}]|[\\x{E0}-\\x{F4}][\\x{80}-\\x{BF}]{2,3}");

    private final List<Problem> found = new ArrayList<>();
    private final Set<String> reportedKeys = new HashSet<>();

    /**
     * A mistake.
     *
     * @param at the property and its value; without a key where only the place counts
     * @param text begins with a code of docs/diagnostics.md, unless the value itself is wrong
     */
    private record Problem(ConfigEntry at, String text) {
        String place(boolean oneSource) {
            String place = (oneSource ? "" : at.source() + " ") + (at.line() > 0 ? "line " + at.line() : "");
            return place.isEmpty() ? "" : place.strip() + ": ";
        }

        String message() {
            String coded = visible(text.startsWith("RL-") ? text : "RL-104 " + text);
            String property = " " + shown(at.key()) + " = " + shown(at.key(), at.value()) + ": ";
            return at.key().isEmpty() ? coded : coded.replaceFirst(" ", Matcher.quoteReplacement(property));
        }
    }

    void add(ConfigEntry at, String text) {
        if (!reportedKeys.contains(at.key())) {
            found.add(new Problem(at, text));
        }
    }

    /** A problem at a place. */
    void add(String source, int line, String text) {
        add(new ConfigEntry(source, line, "", ""), text);
    }

    /** A problem of a key; its further problems are not reported, because they may have the same cause. */
    public void addFirst(String source, int line, String key, String text) {
        reportedKeys.add(key);
        add(source, line, text);
    }

    /** How many there are. */
    int size() {
        return found.size();
    }

    /** Throws an {@link IllegalArgumentException} if a value is wrong. */
    static void refuseIf(boolean wrong, String text) {
        if (wrong) {
            throw new IllegalArgumentException(text);
        }
    }

    /** The mistakes one by one, in the order of the text; then what is missing, perhaps because its key is misspelled. */
    public List<String> lines() {
        found.sort(Comparator.<Problem, Boolean>comparing(one -> one.at.source().isEmpty())
                .thenComparing(one -> one.at.source())
                .thenComparing(one -> one.at.line()));
        boolean hasOneSource = onlySource() != null;
        return found.stream()
                .map(one -> one.place(hasOneSource) + one.message())
                .toList();
    }

    /** One message for all of them. */
    public String report() {
        String source = onlySource();
        return (source == null || source.isEmpty() ? "the configuration" : source) + " has " + found.size()
                + (found.size() == 1 ? " problem:\n  " : " problems:\n  ") + String.join("\n  ", lines());
    }

    private @Nullable String onlySource() {
        List<String> sources =
                found.stream().map(one -> one.at.source()).distinct().toList();
        return sources.size() == 1 ? sources.get(0) : null;
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
        String plain =
                visible(masked.replace("\t", "\\u0009").replace("\r", "\\u000d").replace("\n", "\\u000a"));
        return plain.length() > LONGEST_VALUE ? plain.substring(0, LONGEST_VALUE) + "..." : plain;
    }

    /** Notes a key or a value with characters that nobody sees; nothing else is reported of it. A secret may have any. */
    void checkSeen(ConfigEntry at) {
        String remedy = unseen(at.key() + (SECRET.matcher(at.key()).find() ? "" : at.value()));
        if (remedy != null) {
            add(at, remedy);
            reportedKeys.add(at.key());
        }
    }

    /** What is wrong with text that has characters that nobody sees; null if it has none. */
    public static @Nullable String unseen(String text) {
        if (MISREAD.matcher(text).find()) {
            return "RL-103 this is UTF-8 that was read as ISO-8859-1, as Spring Boot reads .properties, so it means something"
                    + " else; write such a character as \\u and four hex digits, or use YAML";
        }
        Matcher unseen = UNSEEN.matcher(text);
        return unseen.find()
                ? "RL-103 nobody sees the character " + unseen.group()
                        + " in it, and with it this means something else; remove it"
                : null;
    }

    /** Text without what nobody sees. */
    public static String seen(String text) {
        return UNSEEN.matcher(MISREAD.matcher(text).replaceAll("")).replaceAll("");
    }

    /** Text with what nobody sees as escapes. */
    public static String visible(String text) {
        return UNSEEN.matcher(text)
                .replaceAll(unseen -> String.format("\\\\u%04x", unseen.group().codePointAt(0)));
    }
}
