package io.limiter.internal.config;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The table of all properties: {@code properties.txt}, whose head explains its form. */
public final class ConfigKeys {
    /** Is in a key instead of the name of a policy, plan or rule. */
    public static final String NAME = "<name>";

    private static final Pattern TYPE =
            Pattern.compile("(?<type>\\w+)(?: (?<least>[^ ,]+)\\.\\.(?<most>[^ ,]+))?(?:, (?<flags>.+))?");

    private static final Map<String, ConfigKey> ALL = new LinkedHashMap<>();

    static {
        List<String> lines = lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.endsWith(".*")) {
                addLike(line.replace("*", "").split(" = ", 2));
            } else if (!line.startsWith(" ")) {
                add(key(line.split(" = ", 2), lines.subList(i + 1, lines.size())));
            }
        }
    }

    private ConfigKeys() {}

    private static List<String> lines() {
        try (InputStream table = Objects.requireNonNull(ConfigKeys.class.getResourceAsStream("properties.txt"));
                BufferedReader text = new BufferedReader(new InputStreamReader(table, StandardCharsets.UTF_8))) {
            return text.lines()
                    .filter(line -> !line.isEmpty() && !line.startsWith("#") && !line.startsWith("["))
                    .toList();
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
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
                ConfigKey.Type.valueOf(type.group("type").toUpperCase(Locale.ROOT)),
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
    static boolean needsRestart(String key) {
        ConfigKey known = find(key);
        return known != null && known.needsRestart();
    }

    /** How messages call a property that needs a restart: {@code limiter.redis.*} where several such lie together. */
    static String inShort(String name) {
        String start = name.replaceFirst("^(limiter\\.[^.]+\\.).*", "$1");
        long together = ALL.values().stream()
                .filter(key -> key.needsRestart() && key.name().startsWith(start))
                .count();
        return start.endsWith(".") && together > 1 ? start + "*" : name;
    }
}
