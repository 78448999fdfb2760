package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.ConfigTreePropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.util.ClassUtils;

/**
 * Reads the configuration of an application, and again when its files have changed: Spring Boot reads these into an
 * environment like that of the application, as it did at startup. The application's own environment is not changed. Used
 * by one thread at a time.
 */
final class ApplicationFiles {
    /** The name that Spring Boot gives to a document of a file, here the file; or to one on the class path, which stays. */
    private static final Pattern DOCUMENT = Pattern.compile("Config resource '(?:file \\[(?<file>.+?)\\]')?.*");

    private final ConfigurableEnvironment environment;
    private final boolean hasClient;
    /** That of the startup, because a thread that reads the files again may have another one. */
    private final @Nullable ClassLoader loader = ClassUtils.getDefaultClassLoader();

    /**
     * The files of an application.
     *
     * @param hasClient whether it has a Redis client
     */
    ApplicationFiles(ConfigurableEnvironment environment, boolean hasClient) {
        this.environment = environment;
        this.hasClient = hasClient;
    }

    /** The configuration of the application at startup. */
    LimiterConfig config() {
        return config(environment);
    }

    private LimiterConfig config(ConfigurableEnvironment from) {
        return ApplicationText.of(from)
                .applicationHasClient(hasClient)
                .readAgain(
                        environment.getPropertySources().stream()
                                .map(ApplicationFiles::path)
                                .filter(Objects::nonNull)
                                .distinct()
                                .toList(),
                        this::read)
                .build();
    }

    /** The file of a source outside of the class path, or its folder with a file for each key; null for another source. */
    private static @Nullable Path path(PropertySource<?> source) {
        Matcher document = DOCUMENT.matcher(source.getName());
        String file = document.matches() ? document.group("file") : null;
        return source instanceof ConfigTreePropertySource tree ? tree.getSource() : file == null ? null : Path.of(file);
    }

    private LimiterConfig read() {
        ConfigurableEnvironment now = new StandardEnvironment();
        now.setActiveProfiles(environment.getActiveProfiles());
        now.setDefaultProfiles(environment.getDefaultProfiles());
        MutablePropertySources sources = now.getPropertySources();
        sources.forEach(source -> sources.remove(source.getName()));
        List<PropertySource<?>> behind = new ArrayList<>();
        boolean hasDocuments = false;
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (DOCUMENT.matcher(source.getName()).matches() || source instanceof ConfigTreePropertySource) {
                hasDocuments = true;
            } else if (!ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
                sources.addLast(source);
                behind.addAll(hasDocuments ? List.of(source) : List.of());
            }
        }
        if (hasDocuments) {
            ClassLoader own = ClassUtils.overrideThreadContextClassLoader(loader);
            try {
                ConfigDataEnvironmentPostProcessor.applyTo(now);
            } finally {
                Thread.currentThread().setContextClassLoader(own == null ? loader : own);
            }
        }
        // The documents have come last. What they have imported besides files is new, and has its place.
        behind.stream()
                .filter(source -> sources.get(source.getName()) == source)
                .forEach(sources::addLast);
        ConfigurationPropertySources.attach(now);
        return config(now);
    }
}
