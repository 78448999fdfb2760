package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ReloadSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.Profiles;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Reads the configuration of an application, and again when its files have changed: in an environment like that of the
 * application, with the current documents of these files. The application's own environment is not changed. Used by one
 * thread at a time.
 */
final class ApplicationFiles {
    /** The name of a document of a file in Spring Boot. */
    private static final Pattern DOCUMENT =
            Pattern.compile("(Config resource '.*' via location '.*')(?: \\(document #\\d+\\))?");

    private final ConfigurableEnvironment environment;
    private final boolean hasClient;
    /** That of the startup, because a thread that reads the files again may have another one; null if nothing uses the classes. */
    private final @Nullable ClassLoader loader;

    private final Map<String, Resource> files = new LinkedHashMap<>();

    /**
     * The files of an application.
     *
     * @param hasClient whether it has a Redis client
     * @param hasFilter whether it has a filter, which makes objects of the classes that the configuration names
     */
    ApplicationFiles(ConfigurableEnvironment environment, boolean hasClient, boolean hasFilter) {
        this.loader = hasFilter ? ClassUtils.getDefaultClassLoader() : null;
        this.environment = environment;
        this.hasClient = hasClient;
        for (PropertySource<?> source : environment.getPropertySources()) {
            String name = fileName(source);
            Resource file = name == null ? null : file(source);
            if (name != null && file != null) {
                files.put(name, file);
            }
        }
    }

    /** The name without that of the document; null if it is not from a file. */
    private static @Nullable String fileName(PropertySource<?> source) {
        Matcher matcher = DOCUMENT.matcher(source.getName());
        return matcher.matches() ? matcher.group(1) : null;
    }

    /** Null if it is on the class path, where a server may cache it, or of a kind that can't be read here. */
    private static @Nullable Resource file(PropertySource<?> source) {
        String first = source instanceof EnumerablePropertySource<?> listed
                ? Arrays.stream(listed.getPropertyNames()).findFirst().orElse(null)
                : null;
        Origin origin = first == null ? null : OriginLookup.getOrigin(source, first);
        Resource resource = origin instanceof TextResourceOrigin text ? text.getResource() : null;
        return resource != null
                        && resource.isFile()
                        && !resource.getDescription().startsWith("class path")
                        && loader(resource) != null
                ? resource
                : null;
    }

    private static @Nullable PropertySourceLoader loader(Resource file) {
        String extension = StringUtils.getFilenameExtension(file.getFilename());
        return SpringFactoriesLoader.loadFactories(PropertySourceLoader.class, ApplicationFiles.class.getClassLoader())
                .stream()
                .filter(loader -> Arrays.asList(loader.getFileExtensions()).contains(extension))
                .findFirst()
                .orElse(null);
    }

    /** The configuration of the application at startup. */
    LimiterConfig config() {
        return config(environment);
    }

    private LimiterConfig config(ConfigurableEnvironment from) {
        return ApplicationText.of(from)
                .applicationHasClient(hasClient)
                .classes(loader)
                .readAgain(files.values().stream().map(ApplicationFiles::path).toList(), this::read)
                .build();
    }

    private static Path path(Resource file) {
        try {
            return file.getFile().toPath();
        } catch (IOException noFile) {
            throw new UncheckedIOException(noFile);
        }
    }

    private LimiterConfig read() throws IOException {
        Map<String, PropertySource<?>> documents = documents();
        ConfigurableEnvironment now = new StandardEnvironment();
        MutablePropertySources sources = now.getPropertySources();
        sources.forEach(source -> sources.remove(source.getName()));
        for (PropertySource<?> source : environment.getPropertySources()) {
            boolean isOfFile = files.containsKey(String.valueOf(fileName(source)));
            PropertySource<?> fresh = isOfFile ? documents.remove(source.getName()) : source;
            if (fresh == null) {
                throw new IOException("RL-160 there is no " + source.getName()
                        + " any more; put its text back, or restart without it");
            }
            if (!ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
                sources.addLast(fresh);
            }
        }
        if (!documents.isEmpty()) {
            throw new IOException("RL-150 " + documents.keySet() + " is new, and the precedence of its values"
                    + " is decided at startup; restart, or write them into an existing document");
        }
        ConfigurationPropertySources.attach(now);
        return config(now);
    }

    /** The active ones of all files, by name. */
    private Map<String, PropertySource<?>> documents() throws IOException {
        Map<String, PropertySource<?>> all = new LinkedHashMap<>();
        for (Map.Entry<String, Resource> file : files.entrySet()) {
            Resource text = file.getValue();
            // Throws where the loader could read for ever.
            ReloadSettings.content(path(text));
            for (PropertySource<?> document :
                    Objects.requireNonNull(loader(text)).load(file.getKey(), text)) {
                if (isActive(document)) {
                    all.put(document.getName(), document);
                }
            }
        }
        return all;
    }

    private boolean isActive(PropertySource<?> document) {
        Binder binder = new Binder(ConfigurationPropertySource.from(document));
        return binder.bind("spring.config.activate.on-profile", String[].class)
                        .map(profiles -> environment.acceptsProfiles(Profiles.of(profiles)))
                        .orElse(true)
                && binder.bind("spring.config.activate.on-cloud-platform", CloudPlatform.class)
                        .map(platform -> platform.isActive(environment))
                        .orElse(true);
    }
}
