package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * What an application's environment says below {@code limiter.}, each value with its place, in the precedence and with the
 * spellings of Spring Boot. The parser is that of limiter-core: here are no types and no defaults. Not thread-safe.
 */
final class ApplicationText {
    private static final String RL_104 = "RL-104 ";

    private final ConfigurableEnvironment environment;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<String, String> variables = new TreeMap<>();
    private final List<Mistake> mistakes = new ArrayList<>();

    /** A value that stands somewhere. */
    record Entry(Place place, KnownKeys.Key key, String value) {}

    private record Mistake(Place place, String key, String text) {}

    private ApplicationText(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    static ApplicationText of(ConfigurableEnvironment environment) {
        ApplicationText text = new ApplicationText(environment);
        List<PropertySource<?>> sources = new ArrayList<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            if (source.getUnderlyingSource() instanceof PropertySource<?> underlying) {
                sources.add(underlying);
            }
        }
        // From the last to the first, so that what goes over a value takes its place, and the order is that of the
        // files.
        for (int i = sources.size() - 1; i >= 0; i--) {
            text.read(sources.get(i));
        }
        return text;
    }

    /**
     * The configuration.
     *
     * @param hasClient whether the application has a client of Redis
     * @throws io.limiter.config.ConfigException if the text has mistakes: one message lists them all
     */
    LimiterConfig config(boolean hasClient) {
        yes(BootKeys.ENABLED);
        yes(BootKeys.FILTER_ENABLED);
        whole(BootKeys.FILTER_ORDER, 0);
        whole(BootKeys.USER_FILTER_ORDER, 0);
        LimiterConfig.Builder builder =
                LimiterConfig.builder().findBackend(hasClient).otherKeys(BootKeys.ALL);
        for (Entry entry : entries.values()) {
            String value = resolved(entry);
            builder.property(
                    entry.place().source(), entry.place().line(), entry.key().text(), value);
        }
        Map<String, String> environmentText = new LinkedHashMap<>();
        // What can't be resolved stays as it is: a variable may be meant for somebody else.
        variables.forEach((name, value) -> environmentText.put(name, environment.resolvePlaceholders(value)));
        tell(builder);
        return builder.environment(environmentText).build();
    }

    /** Whether it is written where the state is, and not left to be found out. */
    boolean saysBackend() {
        return entries.containsKey("limiter.backend") || variables.containsKey("LIMITER_BACKEND");
    }

    /** A whole number; the fallback where there is none, or another text, which is noted. */
    int whole(String key, int fallback) {
        return value(key, fallback, text -> {
            try {
                return Integer.parseInt(text);
            } catch (NumberFormatException none) {
                return null;
            }
        });
    }

    private void yes(String key) {
        value(key, true, text -> switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> null;
        });
    }

    private <T> T value(String key, T fallback, Function<String, @Nullable T> parser) {
        Entry entry = entries.get(KnownKeys.uniform(key));
        if (entry == null) {
            return fallback;
        }
        String text = resolved(entry);
        T value = parser.apply(text);
        if (value == null) {
            note(
                    entry.place(),
                    key,
                    RL_104 + key + " = " + text
                            + (fallback instanceof Integer
                                    ? ": no whole number; write one such as 0 or -50"
                                    : ": neither yes nor no; write true or false"));
        }
        return value == null ? fallback : value;
    }

    /**
     * Throws what {@link #config} would throw, where that is not asked.
     *
     * @throws io.limiter.config.ConfigException if the keys of the application alone have mistakes
     */
    void throwIfAny() {
        LimiterConfig.Builder builder = LimiterConfig.builder();
        tell(builder);
        builder.build();
    }

    private void tell(LimiterConfig.Builder builder) {
        mistakes.forEach(mistake ->
                builder.mistake(mistake.place().source(), mistake.place().line(), mistake.key(), mistake.text()));
    }

    private void read(PropertySource<?> source) {
        if (source instanceof SystemEnvironmentPropertySource variablesOfProcess) {
            readVariables(variablesOfProcess);
            return;
        }
        String[] names = source instanceof EnumerablePropertySource<?> enumerable
                ? enumerable.getPropertyNames()
                : KnownKeys.single();
        Map<String, Entry> here = new LinkedHashMap<>();
        Map<String, SortedMap<Integer, String>> lists = new LinkedHashMap<>();
        for (String name : names) {
            Object value = name.regionMatches(true, 0, "limiter", 0, 7) ? source.getProperty(name) : null;
            if (value != null) {
                read(name, String.valueOf(value), Place.of(source, name), here, lists);
            }
        }
        lists.forEach((uniform, items) -> here.computeIfPresent(
                uniform, (u, first) -> new Entry(first.place(), first.key(), String.join(", ", items.values()))));
        here.forEach(this::put);
    }

    private void read(
            String name,
            String value,
            Place place,
            Map<String, Entry> here,
            Map<String, SortedMap<Integer, String>> lists) {
        KnownKeys.Indexed indexed = KnownKeys.Indexed.of(name);
        KnownKeys.Key key = KnownKeys.find(indexed.name());
        if (key == null || (key.isSection() && value.isBlank())) {
            return;
        }
        Entry same = here.putIfAbsent(key.uniform(), new Entry(place, key, value));
        if (indexed.index() >= 0) {
            lists.computeIfAbsent(key.uniform(), k -> new TreeMap<>()).put(indexed.index(), value);
        } else if (same != null) {
            String where = same.place().line() > 0 ? " in line " + same.place().line() : "";
            note(
                    place,
                    name,
                    "RL-102 " + name + " and " + same.key().text() + where
                            + " are one key to Spring Boot, which ignores case, - and _; remove one, or rename it");
        }
    }

    private void put(String uniform, Entry entry) {
        Entry below = entries.get(uniform);
        // A name keeps the spelling of the file that brought it in, whatever a profile or a switch calls it.
        entries.put(uniform, below == null ? entry : new Entry(entry.place(), below.key(), entry.value()));
        variables.keySet().removeIf(variable -> KnownKeys.letters(variable).equals(KnownKeys.letters(uniform)));
    }

    private void readVariables(SystemEnvironmentPropertySource source) {
        Map<String, SortedMap<Integer, String>> lists = new TreeMap<>();
        for (String name : source.getPropertyNames()) {
            if (!name.regionMatches(true, 0, "limiter", 0, 7)) {
                continue;
            }
            String variable = name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
            String value = variable.startsWith("LIMITER_") ? String.valueOf(source.getProperty(name)) : "";
            if (value.isBlank()) {
                continue;
            }
            variables.put(variable, value);
            int last = variable.lastIndexOf('_');
            if (variable.substring(last + 1).matches("[0-9]{1,4}")) {
                lists.computeIfAbsent(variable.substring(0, last), v -> new TreeMap<>())
                        .put(Integer.valueOf(variable.substring(last + 1)), value);
            }
            for (String key : BootKeys.ALL) {
                if (KnownKeys.letters(variable).equals(KnownKeys.letters(key))) {
                    entries.put(
                            KnownKeys.uniform(key),
                            new Entry(new Place("environment variable " + variable, 0), KnownKeys.of(key), value));
                }
            }
        }
        lists.forEach((variable, items) -> variables.putIfAbsent(variable, String.join(", ", items.values())));
    }

    private String resolved(Entry entry) {
        return resolved(entry.value(), entry.place(), entry.key().text()).strip();
    }

    private String resolved(String value, Place place, String what) {
        try {
            return environment.resolveRequiredPlaceholders(value);
        } catch (IllegalArgumentException unresolved) {
            // Not the whole message: it shows the value, which may be a password.
            String message = String.valueOf(unresolved.getMessage()).split(" in value ", 2)[0];
            note(
                    place,
                    what,
                    RL_104 + what + ": " + message
                            + "; define that property or variable, or give a default: ${name:default}");
            return value;
        }
    }

    private void note(Place place, String key, String text) {
        Mistake mistake = new Mistake(place, key, text);
        if (!mistakes.contains(mistake)) {
            mistakes.add(mistake);
        }
    }
}
