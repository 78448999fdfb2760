package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * The properties below {@code limiter.} in an application's environment: sources, spellings of keys, precedence and places
 * are those of Spring Boot. Their text goes to limiter-core, which has the types, the defaults, and the spellings of
 * environment variables. Used by one thread.
 */
final class ApplicationText {
    /** A key of limiter-core, which also decides here which beans exist. */
    static final String ENABLED = "limiter.enabled";

    private static final ConfigurationPropertyName LIMITER = ConfigurationPropertyName.of("limiter");

    private static final List<Known> KNOWN =
            ConfigKey.all().stream().map(key -> Known.of(key.name())).toList();

    private final ConfigurableEnvironment environment;
    private final LimiterConfig.Builder config = LimiterConfig.builder().foreignKeys(ConfigKey.names(true));

    /** By their names without the index in a list; a name keeps the spelling of the source with the least precedence. */
    private final Map<ConfigurationPropertyName, List<ConfigurationProperty>> properties = new LinkedHashMap<>();

    private final Map<String, String> variables = new TreeMap<>();

    private ApplicationText(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    /** A key of the table of properties: what is before and after the name of a policy, plan or rule, if it has one. */
    private record Known(String key, ConfigurationPropertyName before, ConfigurationPropertyName after) {
        static Known of(String key) {
            String[] parts = key.split("[.]" + ConfigKey.NAME + "[.]", 2);
            return new Known(
                    key,
                    ConfigurationPropertyName.of(parts[0]),
                    ConfigurationPropertyName.of(parts.length == 1 ? "" : parts[1]));
        }

        /** The key, with the name as it is spelled in another one; empty if that is not this key. */
        Stream<String> in(ConfigurationPropertyName written) {
            int start = before.getNumberOfElements();
            int end = written.getNumberOfElements() - after.getNumberOfElements();
            boolean isThis = (after.isEmpty() ? end == start : end > start)
                    && written.chop(start).equals(before)
                    && written.subName(end).equals(after);
            return isThis ? Stream.of(key.replace(ConfigKey.NAME, spelled(written, start, end))) : Stream.empty();
        }
    }

    /** A builder with these properties, and with the mistakes that are found before limiter-core reads them. */
    static LimiterConfig.Builder of(ConfigurableEnvironment environment) {
        ApplicationText text = new ApplicationText(environment);
        List<ConfigurationPropertySource> sources = sources(environment);
        // From the last to the first, so that overriding values replace others, and the order is that of the files.
        Collections.reverse(sources);
        sources.forEach(text::read);
        text.properties.forEach(text::add);
        return text.config.environment(text.variables);
    }

    private void read(ConfigurationPropertySource source) {
        if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource) {
            Map<String, String> here = new TreeMap<>();
            of(source).distinct().forEach(variable -> readVariable(variable, here));
            variables.putAll(here);
            return;
        }
        Map<ConfigurationPropertyName, ConfigurationProperty> here = new LinkedHashMap<>();
        of(source).filter(property -> LIMITER.isAncestorOf(property.getName())).forEach(property -> {
            ConfigurationProperty other = here.putIfAbsent(property.getName(), property);
            if (other != null) {
                String both = spelled(other.getName()) + " and " + spelled(property.getName());
                mistake(property, both, "RL-102 " + both + " are one key for Spring Boot; remove or rename one");
            }
        });
        here.values().stream()
                .collect(Collectors.groupingBy(
                        property -> list(property.getName()), LinkedHashMap::new, Collectors.toList()))
                .forEach((name, items) -> {
                    properties.put(name, items);
                    variables.keySet().removeIf(variable -> ConfigKey.isVariable(variable, spelled(name)));
                });
    }

    /**
     * By its name without the prefix of the application. A list may have a variable for each item. Placeholders that can't
     * be resolved stay, as it may be meant for other software.
     */
    private void readVariable(ConfigurationProperty variable, Map<String, String> here) {
        String name = ConfigKey.variable(spelled(variable.getName()));
        String value = variable.getValue().toString();
        if (name.startsWith("LIMITER_") && !value.isBlank()) {
            here.merge(
                    name.replaceFirst("_[0-9]{1,4}$", ""),
                    environment.resolvePlaceholders(value),
                    (one, other) -> one + ", " + other);
        }
    }

    private void add(ConfigurationPropertyName name, List<ConfigurationProperty> items) {
        String known = known(name);
        String key = Objects.requireNonNullElse(known, spelled(name));
        String value = items.stream().map(item -> item.getValue().toString()).collect(Collectors.joining(", "));
        try {
            value = environment.resolveRequiredPlaceholders(value);
        } catch (IllegalArgumentException unresolved) {
            // Not the whole message: it contains the value, which may be a password.
            String message = String.valueOf(unresolved.getMessage()).split(" in value ", 2)[0];
            String remedy = "; define that property or variable, or give a default: ${name:default}";
            mistake(items.get(0), key, "RL-104 " + key + ": " + message + remedy);
        }
        // A file may have a section without lines.
        if (known != null || !value.isBlank()) {
            config.property(place(items.get(0)), line(items.get(0)), key, value);
        }
    }

    private void mistake(ConfigurationProperty property, String key, String text) {
        config.mistake(place(property), line(property), key, text);
    }

    /** The sources that Spring Boot reads, in order of precedence. */
    private static List<ConfigurationPropertySource> sources(ConfigurableEnvironment environment) {
        List<ConfigurationPropertySource> sources = new ArrayList<>();
        ConfigurationPropertySources.from(environment.getPropertySources()).forEach(sources::add);
        return sources;
    }

    /** All properties of an application but environment variables. */
    static Stream<ConfigurationProperty> all(ConfigurableEnvironment environment) {
        return sources(environment).stream()
                .filter(source -> !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource))
                .flatMap(ApplicationText::of);
    }

    /** All properties of a source, each by its name there, and those of variables. */
    private static Stream<ConfigurationProperty> of(ConfigurationPropertySource source) {
        return source instanceof IterableConfigurationPropertySource listed
                ? listed.stream()
                        .filter(Objects::nonNull)
                        .flatMap(name -> Stream.ofNullable(source.getConfigurationProperty(name))
                                .map(found -> new ConfigurationProperty(name, found.getValue(), found.getOrigin())))
                : Stream.empty();
    }

    /** The key of limiter-core that Spring Boot takes a name for; null if there is none. */
    static @Nullable String known(ConfigurationPropertyName name) {
        return KNOWN.stream().flatMap(known -> known.in(list(name))).findFirst().orElse(null);
    }

    private static ConfigurationPropertyName list(ConfigurationPropertyName name) {
        return !name.isEmpty() && name.isNumericIndex(name.getNumberOfElements() - 1) ? name.getParent() : name;
    }

    private static String spelled(ConfigurationPropertyName name) {
        return spelled(name, 0, name.getNumberOfElements());
    }

    private static String spelled(ConfigurationPropertyName name, int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                .collect(Collectors.joining("."));
    }

    /** The file, or how Spring Boot names another source. */
    private static String place(ConfigurationProperty property) {
        TextResourceOrigin text = text(property);
        return text == null
                ? String.valueOf(property.getOrigin())
                : text.toString().replace(" - " + text.getLocation(), "");
    }

    /** The line there, from 1; 0 where there are no lines. */
    private static int line(ConfigurationProperty property) {
        TextResourceOrigin text = text(property);
        return text == null || text.getLocation() == null
                ? 0
                : text.getLocation().getLine() + 1;
    }

    private static @Nullable TextResourceOrigin text(ConfigurationProperty property) {
        return property.getOrigin() instanceof PropertySourceOrigin source
                        && source.getOrigin() instanceof TextResourceOrigin text
                ? text
                : null;
    }
}
