package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.ReloadSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.ConfigTreePropertySource;
import org.springframework.boot.env.ConfigTreePropertySource.Option;
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

    /** A location that need not be there when the application starts. */
    private static final Pattern OPTIONAL = Pattern.compile("optional:(file:|configtree:|/).*");

    private static final Pattern LOCATIONS =
            Pattern.compile("(?i)spring[._]config[._](import|additional[-_]?location|location)(\\[[0-9]+]|_[0-9]+)?");

    private static final Logger LOG = DiagnosticLog.of(ApplicationFiles.class);

    private final ConfigurableEnvironment environment;
    private final boolean hasClient;
    /** That of the startup, because a thread that reads the files again may have another one; null if nothing uses the classes. */
    private final @Nullable ClassLoader loader;

    private final Map<String, Resource> files = new LinkedHashMap<>();

    /** The folders with a file for each key, such as a mounted ConfigMap. */
    private final List<Path> trees = new ArrayList<>();

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
            } else if (source instanceof ConfigTreePropertySource tree) {
                trees.add(tree.getSource());
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
        LimiterConfig config = config(environment);
        ReloadSettings reload = config.settings().reload();
        if (reload.interval() != null) {
            List<String> unseen = Stream.concat(
                            config.origins().entrySet().stream()
                                    .filter(one ->
                                            !reload.fixed().containsKey(one.getKey()) && !isWatched(one.getValue()))
                                    .map(one -> one.getKey() + " in " + one.getValue()),
                            absent())
                    .distinct()
                    .toList();
            if (!unseen.isEmpty()) {
                LOG.warn(
                        "RL-190 limiter.reload.interval sees no change of: {}; write these into a file that is there at"
                                + " startup, or restart when they change",
                        String.join(", ", unseen));
            }
        }
        return config;
    }

    /** Whether a place is looked at, or is part of the application, which never changes. */
    private boolean isWatched(String place) {
        return place.startsWith("class path")
                || files.values().stream().anyMatch(file -> place.startsWith(file.getDescription()))
                || trees.stream().anyMatch(tree -> place.startsWith("file [" + tree + "/"));
    }

    /** The optional locations that had no file at startup. */
    private Stream<String> absent() {
        List<PropertySource<?>> sources = SourcedProperty.sources(environment);
        return sources.stream()
                .flatMap(SourcedProperty::of)
                .filter(property -> LOCATIONS.matcher(property.name()).matches())
                .flatMap(property -> Stream.of(environment
                        .resolvePlaceholders(String.valueOf(property.value()))
                        .split("[,;]")))
                .map(String::strip)
                .filter(location -> OPTIONAL.matcher(location).matches()
                        && sources.stream().noneMatch(source -> source.getName().contains("'" + location + "'"))
                        && trees.stream().noneMatch(tree -> location.contains("configtree:" + tree)))
                .map(location -> location + ", where nothing was at startup");
    }

    private LimiterConfig config(ConfigurableEnvironment from) {
        return ApplicationText.of(from)
                .applicationHasClient(hasClient)
                .classes(loader)
                .readAgain(
                        Stream.concat(files.values().stream().map(ApplicationFiles::path), trees.stream())
                                .toList(),
                        this::read)
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
            PropertySource<?> fresh = isOfFile ? documents.remove(source.getName()) : again(source);
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

    /** With the present files of a tree, as Spring Boot reads it. */
    private static PropertySource<?> again(PropertySource<?> source) {
        return source instanceof ConfigTreePropertySource tree
                ? new ConfigTreePropertySource(tree.getName(), tree.getSource(), Option.AUTO_TRIM_TRAILING_NEW_LINE)
                : source;
    }

    /** The active ones of all files, by name. */
    private Map<String, PropertySource<?>> documents() throws IOException {
        Map<String, PropertySource<?>> all = new LinkedHashMap<>();
        for (Map.Entry<String, Resource> file : files.entrySet()) {
            Resource text = file.getValue();
            // Throws where the loader could read for ever.
            ConfigText.content(path(text));
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
