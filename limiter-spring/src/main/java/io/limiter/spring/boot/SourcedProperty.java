package io.limiter.spring.boot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A property in a source of an application's environment. */
record SourcedProperty(PropertySource<?> source, String name) {
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

    /** The file, or how Spring Boot names another source. */
    String place() {
        TextResourceOrigin text = text();
        return text == null
                ? PropertySourceOrigin.get(source, name).toString()
                : text.toString().replace(" - " + text.getLocation(), "");
    }

    /** The line there, from 1; 0 where there are no lines. */
    int line() {
        TextResourceOrigin text = text();
        return text == null || text.getLocation() == null
                ? 0
                : text.getLocation().getLine() + 1;
    }

    private @Nullable TextResourceOrigin text() {
        return OriginLookup.getOrigin(source, name) instanceof TextResourceOrigin text ? text : null;
    }
}
