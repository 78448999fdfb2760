package io.limiter.internal.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A property of the table of all properties, {@code properties.txt}, whose head explains its form.
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
    /** Is in a key instead of the name of a policy, plan or rule. */
    public static final String NAME = "<name>";

    private static final Pattern TYPE =
            Pattern.compile("(?<type>\\w+)(?: (?<least>[^ ,]+)\\.\\.(?<most>[^ ,]+))?(?:, (?<flags>.+))?");

    static final Pattern FORM = Pattern.compile("! unlike (?<form>\\S+): (?<text>.+)");

    static final Pattern BESIDE = Pattern.compile(
            "! (?:(?<own>\\S+) )?(?<how>with|without) (?<others>[^ =:]+)(?:=(?<value>\\S+))?: (?<text>.+)");

    private static final Map<String, ConfigKey> ALL = new LinkedHashMap<>();

    static {
        List<String> lines = ConfigText.resource(ConfigKey.class, "properties.txt")
                .lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("#") && !line.startsWith("["))
                .toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.endsWith(".*")) {
                addLike(line.replace("*", "").split(" = ", 2));
            } else if (!line.startsWith(" ")) {
                add(key(line.split(" = ", 2), lines.subList(i + 1, lines.size())));
            }
        }
    }

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
                                + Objects.requireNonNullElse(usual, "500ms"));
            case CLASS ->
                Problems.refuseIf(
                        !isClassName(value),
                        "not the name of a class; write it with its package, such as com.example.MyRejections");
            default -> {}
        }
    }

    /** What is wrong with a written value beside the others that are written; null for nothing. */
    @Nullable
    String conflict(ConfigEntry written, Map<String, ConfigEntry> all) {
        String siblings = written.key().substring(0, written.key().lastIndexOf('.') + 1);
        for (String line : about) {
            Matcher beside = BESIDE.matcher(line);
            if (beside.matches() && isLike(written, beside.group("own"))) {
                boolean found = Arrays.stream(beside.group("others").split("[|]"))
                        .map(other -> all.get(other.startsWith("limiter.") ? other : siblings + other))
                        .anyMatch(other -> other != null && isLike(other, beside.group("value")));
                if (found == beside.group("how").equals("with")) {
                    return beside.group("text");
                }
            }
        }
        return null;
    }

    private static boolean isLike(ConfigEntry written, @Nullable String form) {
        return form == null || written.value().matches("(?is:" + form + ")");
    }

    private <T extends Comparable<T>> boolean isOutside(Function<String, T> parser, String value) {
        T parsed = parser.apply(value);
        return parsed.compareTo(parser.apply(range.get(0))) < 0 || parsed.compareTo(parser.apply(range.get(1))) > 0;
    }

    private String bounds() {
        return String.join(" to ", range);
    }

    /** The property of a line and those after it. */
    private static ConfigKey key(String[] nameAndUsual, List<String> about) {
        Matcher type = TYPE.matcher(about.get(0).strip());
        if (!type.matches()) {
            throw new IllegalStateException("no type in the table of properties: " + about.get(0));
        }
        String flags = type.group("flags");
        return new ConfigKey(
                nameAndUsual[0],
                Type.valueOf(type.group("type").toUpperCase(Locale.ROOT)),
                type.group("least") == null ? List.of() : List.of(type.group("least"), type.group("most")),
                nameAndUsual.length < 2 ? null : nameAndUsual[1],
                flags == null ? Set.of() : Set.of(flags.split(", ")),
                about.stream()
                        .skip(1)
                        .takeWhile(line -> line.startsWith(" "))
                        .map(String::strip)
                        .toList());
    }

    private static void addLike(String[] startAndOther) {
        List.copyOf(ALL.values()).stream()
                .filter(key -> key.name().startsWith(startAndOther[1]))
                .forEach(key -> add(key.named(startAndOther[0] + key.name().substring(startAndOther[1].length()))));
    }

    private static void add(ConfigKey key) {
        ALL.putIfAbsent(key.name(), key);
    }

    /** All of them, in the order of the table. */
    public static Collection<ConfigKey> all() {
        return Collections.unmodifiableCollection(ALL.values());
    }

    /** The names of the keys that Spring Boot alone reads, or of all others. */
    public static List<String> names(boolean ofSpring) {
        return ALL.values().stream()
                .filter(key -> key.isOfSpring() == ofSpring)
                .map(ConfigKey::name)
                .toList();
    }

    /** The property of a key as it is written, with the name of its policy, plan or rule; null for an unknown key. */
    static @Nullable ConfigKey find(String key) {
        ConfigKey known = ALL.get(key);
        for (NamedKeys group : NamedKeys.values()) {
            String name = known == null ? group.name(key) : null;
            if (name != null) {
                return ALL.get(group.start + NAME + key.substring(group.start.length() + name.length()));
            }
        }
        return known;
    }

    /** Whether only a restart changes the property of a key as it is written. */
    static boolean isFixed(String key) {
        ConfigKey known = find(key);
        return known != null && known.needsRestart();
    }

    /** Whether an environment variable is that of a key, in one of its spellings. */
    public static boolean isVariable(String variable, String key) {
        return variable(key).replace("_", "").equals(variable.replace("_", ""));
    }

    /** The environment variable of a key. */
    public static String variable(String key) {
        return key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
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
