package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * The properties below {@code limiter.} in an application's environment, each value with its place, with the precedence
 * and spellings of Spring Boot. The parser is that of limiter-core: this class has no types and no defaults. Not
 * thread-safe.
 */
final class ApplicationText {
    private final ConfigurableEnvironment environment;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, String> variables = new TreeMap<>();
    private final Set<Mistake> mistakes = new LinkedHashSet<>();

    /** The value of a key, and its place. For a list, the place of its first item, and all items. */
    private record Entry(WrittenProperty property, String key, String value) {}

    private record Mistake(WrittenProperty property, String key, String text) {}

    ApplicationText(ConfigurableEnvironment environment) {
        this.environment = environment;
        List<PropertySource<?>> sources = new ArrayList<>(WrittenProperty.sources(environment));
        // From the last to the first, so that overriding values replace others, and the order is that of the files.
        Collections.reverse(sources);
        sources.forEach(this::read);
    }

    /**
     * The configuration.
     *
     * @param hasClient whether the application has a client of Redis
     * @param loader finds the classes of the application; null if nothing uses them
     * @param files the files to watch for changes
     * @param again reads all of it again
     * @throws io.limiter.config.ConfigException if the text has mistakes: one message lists them all
     */
    LimiterConfig config(
            boolean hasClient, @Nullable ClassLoader loader, List<Path> files, Callable<LimiterConfig> again) {
        BootKeys.ALL.forEach(this::check);
        LimiterConfig.Builder builder = LimiterConfig.builder()
                .findBackend(hasClient)
                .otherKeys(BootKeys.ALL)
                .classes(loader)
                .readAgain(files, again);
        for (Entry entry : entries.values()) {
            WrittenProperty property = entry.property();
            builder.property(property.place(), property.line(), entry.key(), resolved(entry));
        }
        Map<String, String> environmentText = new LinkedHashMap<>();
        // Unresolvable placeholders stay as they are: a variable may be meant for other software.
        variables.forEach((name, value) -> environmentText.put(name, environment.resolvePlaceholders(value)));
        mistakes.forEach(mistake ->
                builder.mistake(mistake.property().place(), mistake.property().line(), mistake.key(), mistake.text()));
        return builder.environment(environmentText).build();
    }

    /** A key only for Spring Boot applications, which limiter-core does not read. */
    private void check(String key) {
        Entry entry = entries.get(KnownKeys.uniform(key));
        String text = entry == null ? "" : resolved(entry);
        if (entry != null && !BootKeys.fits(key, text)) {
            note(
                    entry.property(),
                    key,
                    "RL-104 " + key + " = " + text
                            + (BootKeys.isSwitch(key)
                                    ? ": not a boolean; write true or false"
                                    : ": not a whole number; write one such as 0 or -50"));
        }
    }

    private void read(PropertySource<?> source) {
        Map<String, Entry> here = new LinkedHashMap<>();
        Map<String, SortedMap<Integer, String>> lists = new TreeMap<>();
        WrittenProperty.of(source).forEach(property -> {
            String value = property.name().regionMatches(true, 0, "limiter", 0, 7) ? property.value() : null;
            if (value != null && property.isVariable()) {
                readVariable(property, value, lists);
            } else if (value != null) {
                read(property, value, here, lists);
            }
        });
        lists.forEach((name, items) -> {
            String joined = String.join(", ", items.values());
            if (here.computeIfPresent(name, (n, first) -> new Entry(first.property(), first.key(), joined)) == null) {
                variables.putIfAbsent(name, joined);
            }
        });
        here.forEach(this::put);
    }

    private void read(
            WrittenProperty property,
            String value,
            Map<String, Entry> here,
            Map<String, SortedMap<Integer, String>> lists) {
        KnownKeys.Key key = KnownKeys.find(property.name());
        if (key == null || (value.isBlank() && key.isSection())) {
            return;
        }
        Entry same = here.putIfAbsent(key.uniform(), new Entry(property, key.text(), value));
        if (key.index() >= 0) {
            lists.computeIfAbsent(key.uniform(), k -> new TreeMap<>()).put(key.index(), value);
        } else if (same != null) {
            int line = same.property().line();
            note(
                    property,
                    property.name(),
                    "RL-102 " + property.name() + " and " + same.key() + (line > 0 ? " in line " + line : "")
                            + " are one key for Spring Boot, which ignores case, - and _; remove or rename one");
        }
    }

    private void put(String uniform, Entry entry) {
        // A name keeps the spelling of the file that defines it, whatever its spelling in a profile or on the command
        // line.
        entries.merge(uniform, entry, (below, over) -> new Entry(over.property(), below.key(), over.value()));
        variables.keySet().removeIf(variable -> KnownKeys.letters(variable).equals(KnownKeys.letters(uniform)));
    }

    /** limiter-core distinguishes the names of these; an unknown one may be meant for other software. */
    private void readVariable(WrittenProperty property, String value, Map<String, SortedMap<Integer, String>> lists) {
        String variable = property.variable();
        if (!variable.startsWith("LIMITER_") || value.isBlank()) {
            return;
        }
        variables.put(variable, value);
        int last = variable.lastIndexOf('_');
        if (variable.substring(last + 1).matches("[0-9]{1,4}")) {
            lists.computeIfAbsent(variable.substring(0, last), v -> new TreeMap<>())
                    .put(Integer.valueOf(variable.substring(last + 1)), value);
        }
        for (String key : BootKeys.ALL) {
            if (KnownKeys.letters(variable).equals(KnownKeys.letters(key))) {
                entries.put(KnownKeys.uniform(key), new Entry(property, key, value));
            }
        }
    }

    private String resolved(Entry entry) {
        try {
            return environment.resolveRequiredPlaceholders(entry.value()).strip();
        } catch (IllegalArgumentException unresolved) {
            // Not the whole message: it contains the value, which may be a password.
            String message = String.valueOf(unresolved.getMessage()).split(" in value ", 2)[0];
            note(
                    entry.property(),
                    entry.key(),
                    "RL-104 " + entry.key() + ": " + message
                            + "; define that property or variable, or give a default: ${name:default}");
            return entry.value().strip();
        }
    }

    private void note(WrittenProperty property, String key, String text) {
        mistakes.add(new Mistake(property, key, text));
    }
}
