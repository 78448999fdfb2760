package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigKey;
import io.limiter.internal.config.Problems;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * The properties below {@code limiter.} in an application's environment, each value with its place, with the precedence
 * and spellings of Spring Boot. The parser is that of limiter-core: this class has no types and no defaults. Not
 * thread-safe.
 */
final class ApplicationText {
    private static final Pattern ITEM = Pattern.compile("(?<list>.*)_(?<index>[0-9]{1,4})");

    private final ConfigurableEnvironment environment;
    private final LimiterConfig.Builder config = LimiterConfig.builder().foreignKeys(KnownKeys.OF_SPRING);
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, String> variables = new TreeMap<>();

    /** The place of a key and its texts by their indexes. For a list, the place of its first item. */
    private record Entry(SourcedProperty property, String key, SortedMap<Integer, String> texts) {}

    private ApplicationText(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    /** A builder with these properties, and with the mistakes that are found before limiter-core reads them. */
    static LimiterConfig.Builder of(ConfigurableEnvironment environment) {
        ApplicationText text = new ApplicationText(environment);
        List<PropertySource<?>> sources = SourcedProperty.sources(environment);
        // From the last to the first, so that overriding values replace others, and the order is that of the files.
        Collections.reverse(sources);
        sources.forEach(text::read);
        text.entries.values().forEach(text::add);
        // Unresolvable placeholders stay as they are: a variable may be meant for other software.
        text.variables.replaceAll((name, value) -> environment.resolvePlaceholders(value));
        return text.config.environment(text.variables);
    }

    private void read(PropertySource<?> source) {
        Map<String, Entry> here = new LinkedHashMap<>();
        Map<String, SortedMap<Integer, String>> lists = new TreeMap<>();
        SourcedProperty.of(source).forEach(property -> {
            String seen = Problems.seen(property.name());
            String value = seen.regionMatches(true, 0, "limiter", 0, 7) ? property.value() : null;
            if (value != null && property.isVariable()) {
                readVariable(property, value, lists);
            } else if (value != null) {
                read(property, value, here);
            }
        });
        lists.forEach((list, items) -> variables.putIfAbsent(list, String.join(", ", items.values())));
        here.forEach(this::put);
    }

    private void read(SourcedProperty property, String value, Map<String, Entry> here) {
        KnownKeys.Key key = KnownKeys.find(property.name());
        String unseen = Problems.unseen(property.name());
        if (unseen != null) {
            String name = " " + Matcher.quoteReplacement(property.name()) + ": ";
            note(property, property.name(), unseen.replaceFirst(" ", name));
        }
        if (key == null || (value.isBlank() && key.isSection())) {
            return;
        }
        String uniform = KnownKeys.uniform(key.text());
        Entry entry = here.computeIfAbsent(uniform, k -> new Entry(property, key.text(), new TreeMap<>()));
        if (key.index() < 0 && !entry.texts().isEmpty()) {
            int line = entry.property().line();
            note(
                    property,
                    property.name(),
                    "RL-102 " + property.name() + " and " + entry.key() + (line > 0 ? " in line " + line : "")
                            + " are one key for Spring Boot, which ignores case, - and _; remove or rename one");
        } else {
            // Items replace a text.
            entry.texts().remove(-1);
            entry.texts().put(key.index(), value);
        }
    }

    private void put(String uniform, Entry entry) {
        // A name keeps the spelling of the file that defines it, whatever its spelling in a profile or on the command
        // line.
        entries.merge(uniform, entry, (below, over) -> new Entry(over.property(), below.key(), over.texts()));
        variables.keySet().removeIf(variable -> ConfigKey.isVariable(variable, uniform));
    }

    /** limiter-core distinguishes the names of these; an unknown one may be meant for other software. */
    private void readVariable(SourcedProperty property, String value, Map<String, SortedMap<Integer, String>> lists) {
        String variable = ConfigKey.variable(property.name());
        if (Problems.unseen(property.name()) != null) {
            variables.put(property.name(), value);
        }
        if (!variable.startsWith("LIMITER_") || value.isBlank()) {
            return;
        }
        variables.put(variable, value);
        Matcher item = ITEM.matcher(variable);
        if (item.matches()) {
            lists.computeIfAbsent(item.group("list"), list -> new TreeMap<>())
                    .put(Integer.valueOf(item.group("index")), value);
        }
    }

    private void add(Entry entry) {
        SourcedProperty property = entry.property();
        String key = entry.key();
        String value = String.join(", ", entry.texts().values());
        try {
            value = environment.resolveRequiredPlaceholders(value);
        } catch (IllegalArgumentException unresolved) {
            // Not the whole message: it contains the value, which may be a password.
            String message = String.valueOf(unresolved.getMessage()).split(" in value ", 2)[0];
            String remedy = "; define that property or variable, or give a default: ${name:default}";
            note(property, key, "RL-104 " + key + ": " + message + remedy);
        }
        config.property(property.place(), property.line(), key, value);
    }

    private void note(SourcedProperty property, String key, String text) {
        config.mistake(property.place(), property.line(), key, text);
    }
}
