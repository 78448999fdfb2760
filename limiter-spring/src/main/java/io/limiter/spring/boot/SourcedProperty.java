package io.limiter.spring.boot;

import io.limiter.internal.config.ConfigKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A property in a source of an application's environment. */
record SourcedProperty(PropertySource<?> source, String name) {
    private static final Map<String, String> PLACES = Map.of(
            "commandLineArgs", "the command line",
            "systemProperties", "the system properties",
            "spring.application.json", "SPRING_APPLICATION_JSON");

    /** The sources that Spring Boot reads, in order of precedence. */
    static List<PropertySource<?>> sources(ConfigurableEnvironment environment) {
        List<PropertySource<?>> sources = new ArrayList<>();
        ConfigurationPropertySources.from(environment.getPropertySources())
                .forEach(source -> sources.add((PropertySource<?>) source.getUnderlyingSource()));
        return sources;
    }

    /** All properties of a source, in their order; for a source that can't list them, those that may be the limiter's. */
    static Stream<SourcedProperty> of(PropertySource<?> source) {
        Stream<String> names = source instanceof EnumerablePropertySource<?> listed
                ? Arrays.stream(listed.getPropertyNames())
                : KnownKeys.single();
        return names.map(name -> new SourcedProperty(source, name));
    }

    /** Its text, with its placeholders; null if the source has no such property. */
    @Nullable
    String value() {
        Object value = source.getProperty(name);
        return value == null ? null : value.toString();
    }

    boolean isVariable() {
        return source instanceof SystemEnvironmentPropertySource;
    }

    /** The file or other source. */
    String place() {
        Origin origin = OriginLookup.getOrigin(source, name);
        if (origin instanceof TextResourceOrigin text) {
            return text.toString().replace(" - " + text.getLocation(), "");
        }
        if (isVariable()) {
            return "environment variable " + ConfigKey.variable(name);
        }
        return origin == null ? PLACES.getOrDefault(source.getName(), source.getName()) : origin.toString();
    }

    /** The line there, from 1; 0 where there are no lines. */
    int line() {
        return OriginLookup.getOrigin(source, name) instanceof TextResourceOrigin text && text.getLocation() != null
                ? text.getLocation().getLine() + 1
                : 0;
    }
}
