package io.limiter.internal.config;

import io.limiter.Policy;
import java.io.IOException;
import java.io.InputStream;
import java.io.LineNumberReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is written for a configuration, source by source, and where; {@link #settings} makes it values. A later source overrides an
 * earlier one, variables of the environment override them all, and what lies {@linkplain #readOver over} them overrides these too.
 * Mistakes are noted, to report all of them together. Not thread-safe.
 */
public final class ConfigText {
    private static final int MOST_BYTES = 16 << 20;

    private static final Pattern JOINED = Pattern.compile("(?s)^(?!\\s*[#!]).*(?<!\\\\)(?:\\\\\\\\)*+\\\\$");

    /** Other text of these properties, such as {@code header:X-Plan} or {@code 10}, is not the name of a class. */
    private static final Pattern NAMED_CLASS =
            Pattern.compile("(?:limiter\\.rules\\..+\\.(?:(?:key|member)=class:|(?:cost|plan)=)"
                    + "|limiter\\.http\\.rejection-handler=)(?<type>[^0-9:-][^:]*)");

    private final List<ConfigEntry> entries = new ArrayList<>();
    private final List<ConfigEntry> over = new ArrayList<>();
    private final Problems problems = new Problems();
    private final Set<String> foreignKeys = new LinkedHashSet<>();
    private Map<String, String> environment = Map.of();

    /** Nothing is written. */
    public ConfigText() {}

    /**
     * The same as in another one, without its mistakes.
     *
     * @param withOver whether with what lies over it
     */
    public ConfigText(ConfigText other, boolean withOver) {
        entries.addAll(other.entries);
        over.addAll(withOver ? other.over : List.of());
        foreignKeys.addAll(other.foreignKeys);
        environment = other.environment;
    }

    /**
     * The content of a configuration file.
     *
     * @throws IOException if it can't be read, is no regular file, or has more than 16 MB: a device may have no end, and a
     *     FIFO no writer
     */
    public static byte[] content(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("RL-160 " + file + " is no regular file; write the configuration into one");
        }
        try (InputStream bytes = Files.newInputStream(file)) {
            byte[] content = bytes.readNBytes(MOST_BYTES + 1);
            if (content.length > MOST_BYTES) {
                throw new IOException("RL-160 " + file + " has more than 16 MB; write the configuration alone into it");
            }
            return content;
        }
    }

    /** The class that a property names; empty for none. */
    public static Optional<String> namedClass(String key, String value) {
        Matcher named = NAMED_CLASS.matcher(key + "=" + value);
        return named.matches() ? Optional.of(named.group("type")) : Optional.empty();
    }

    /** The mistakes that were found. */
    public Problems problems() {
        return problems;
    }

    /** What the sources have, without variables and what lies over them, in order. */
    List<ConfigEntry> entries() {
        return entries;
    }

    /** Adds one property; its place has no line if that is 0. */
    public void add(String source, int line, String key, String value) {
        entries.add(new ConfigEntry(source, line, key, value.strip()));
    }

    /** Adds a text of properties. */
    public void read(String source, Reader text) throws IOException {
        entries.addAll(parsed(source, text));
    }

    /** Lays one property over all of this; its place has no lines. */
    public void addOver(String source, String key, String value) {
        over.add(new ConfigEntry(source, 0, key, value.strip()));
    }

    /** Lays a text of properties over all of this, key by key; returns what it has, in order. */
    public Map<String, String> readOver(String source, Reader text) throws IOException {
        List<ConfigEntry> read = parsed(source, text);
        over.addAll(read);
        return read.stream()
                .collect(Collectors.toMap(
                        ConfigEntry::key, ConfigEntry::value, (one, later) -> later, LinkedHashMap::new));
    }

    /** Notes what is wrong with what lies over an unknown configuration, as far as that is certain. */
    public void checkOver() {
        new SettingsParser(over, problems, foreignKeys).checkGrammar();
    }

    /** Adds keys of the caller. */
    public void addForeignKeys(Collection<String> keys) {
        foreignKeys.addAll(keys);
    }

    /** Sets the variables. */
    public void setEnvironment(Map<String, String> variables) {
        environment = Map.copyOf(variables);
    }

    /** The classes that the sources name. */
    public Set<String> namedClasses() {
        return entries.stream()
                .flatMap(entry -> namedClass(entry.key(), entry.value()).stream())
                .collect(Collectors.toSet());
    }

    /**
     * The settings; not to be used if there are {@link #problems}.
     *
     * @param inCode policies besides those of the text
     * @param hasClient whether the caller has a Redis client, so that no address is needed
     * @param files where this is read: {@link ReloadSettings#files}
     */
    public Settings settings(Collection<Policy> inCode, boolean hasClient, @Nullable List<Path> files) {
        List<ConfigEntry> all = new ArrayList<>(entries);
        all.addAll(EnvironmentText.entries(environment, entries, foreignKeys, problems));
        all.addAll(over);
        return new SettingsParser(all, problems, foreignKeys).parse(inCode, hasClient, files);
    }

    /** Reads text as {@link Properties} does, but keeps lines and order, and notes duplicate keys. */
    private List<ConfigEntry> parsed(String source, Reader text) throws IOException {
        List<ConfigEntry> read = new ArrayList<>();
        Map<String, Integer> lineOfKey = new HashMap<>();
        LineNumberReader lines = new LineNumberReader(text);
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int number = lines.getLineNumber();
                StringBuilder whole = new StringBuilder(number == 1 ? line.replaceFirst("^\uFEFF", "") : line);
                while (line != null && JOINED.matcher(whole).find()) {
                    line = lines.readLine();
                    whole.append('\n').append(line == null ? "" : line);
                }
                Properties entry = new Properties();
                try {
                    entry.load(new StringReader(whole.toString()));
                } catch (IllegalArgumentException malformed) {
                    // Without the text, which may contain a password.
                    problems.add(source, number, "RL-103 a \\u is not a character; write \\u and four hex digits");
                }
                for (String key : entry.stringPropertyNames()) {
                    read.add(new ConfigEntry(
                            source, number, key, entry.getProperty(key).strip()));
                    Integer earlier = lineOfKey.put(key, number);
                    if (earlier != null) {
                        String twice = Problems.shown(key) + " is already set in line " + earlier;
                        problems.add(source, number, "RL-102 " + twice + "; keep one of the two");
                    }
                }
            }
        } catch (MalformedInputException notUtf8) {
            problems.add(source, 0, "RL-103 the text is not UTF-8; save it as UTF-8");
        }
        return read;
    }
}
