package io.limiter.config;

import io.limiter.Policy;
import io.limiter.internal.config.ConfigEntry;
import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.Problems;
import io.limiter.internal.config.Settings;
import io.limiter.internal.config.SettingsParser;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is configured, by the keys of docs/configuration.md, and by policies in code. Immutable; made whole or not
 * at all. Two are equal if they configure the same.
 *
 * <pre>{@code
 * LimiterConfig config = LimiterConfig.load(file);
 * LimiterConfig inCode = LimiterConfig.builder()
 *         .property("limiter.policies.vote.limits", "3/10s")
 *         .property("limiter.rules.login.path", "/login")
 *         .property("limiter.rules.login.policy", "vote")
 *         .build();
 * }</pre>
 */
public final class LimiterConfig {
    private final Settings settings;
    /** What it was built from: a copy that nobody changes, to build others of it and to read it again. */
    private final Builder text;

    private LimiterConfig(Settings settings, Builder text) {
        this.settings = settings;
        this.text = text;
    }

    /**
     * Reads a properties file (UTF-8); environment variables of this process override it. A limiter can read it again.
     *
     * @throws ConfigException if the text has mistakes: one message lists them all
     * @throws IOException if the file can't be read
     */
    public static LimiterConfig load(Path file) throws IOException {
        Builder text = builder().file(file).environment(System.getenv());
        return text.readAgain(List.of(file), () -> load(file)).build();
    }

    /** A builder without any settings. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A builder with the text and the policies of this configuration, which what is added overrides; environment variables override
     * both. What is added also lies over the text that is read again later.
     */
    public Builder toBuilder() {
        return new Builder(text, false);
    }

    /**
     * This with more properties over all of it, for the library's own packages.
     *
     * @param source the name of their place in messages
     * @throws ConfigException if they have mistakes
     */
    public LimiterConfig with(String source, Map<String, String> properties) {
        Builder more = new Builder(text, true);
        properties.forEach((key, value) -> more.over.add(new ConfigEntry(source, 0, key, value.strip())));
        return more.build();
    }

    /** All policies by name, also those of the rules, in the order of the text. */
    public Map<String, Policy> policies() {
        return settings.policies();
    }

    /** Whether the state is in Redis, where several instances share it; else it is in this JVM. */
    public boolean isShared() {
        return settings.storage().backend() == Settings.BackendKind.REDIS;
    }

    /**
     * Where each property is written, by its key: the name of a file with the line, an environment variable, a published
     * version. A key without one has its default.
     */
    public Map<String, String> origins() {
        return settings.reload().origins();
    }

    /** The classes that its text names, without those of {@link Builder#over}. */
    public Set<String> namedClasses() {
        return text.entries.stream()
                .flatMap(entry -> ConfigText.namedClass(entry.key(), entry.value()).stream())
                .collect(Collectors.toSet());
    }

    /** The values of all settings, for the library's own packages: what they have may change in any release. */
    public Settings settings() {
        return settings;
    }

    /**
     * Reads the configuration again from where it was read, which takes the time of files.
     *
     * @throws ConfigException if the text has mistakes
     * @throws IllegalStateException if it was made in code
     * @throws Exception if it can't be read
     */
    public LimiterConfig readAgain() throws Exception {
        settings.reload().readable();
        LimiterConfig read = Objects.requireNonNull(text.again).call();
        Builder start = Objects.requireNonNull(text.start);
        if (start == text) {
            return read;
        }
        Builder next = new Builder(text, true);
        next.start = read.text;
        next.entries.subList(0, start.entries.size()).clear();
        next.entries.addAll(0, read.text.entries);
        next.policies.subList(0, start.policies.size()).clear();
        next.policies.addAll(0, read.text.policies);
        if (text.environment.equals(start.environment)) {
            next.environment = read.text.environment;
        }
        return next.build();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LimiterConfig config && settings.equals(config.settings);
    }

    @Override
    public int hashCode() {
        return settings.hashCode();
    }

    /** Contains no passwords or secrets. */
    @Override
    public String toString() {
        return "LimiterConfig" + policies().keySet();
    }

    /** Collects text, then makes a configuration. A later source overrides an earlier one. Not thread-safe. */
    public static final class Builder {
        private final List<ConfigEntry> entries = new ArrayList<>();
        private final List<ConfigEntry> over = new ArrayList<>();
        private final Problems problems = new Problems();
        private final Set<String> foreignKeys = new LinkedHashSet<>();
        private Map<String, String> environment = Map.of();
        private final List<Policy> policies = new ArrayList<>();
        private boolean hasClient;
        private @Nullable List<Path> files;
        private @Nullable Callable<LimiterConfig> again;
        /** What {@link #again} has read, with which this begins; in a text without more, itself. Null for all of this. */
        private @Nullable Builder start;

        private Builder() {}

        /**
         * A copy.
         *
         * @param withOver also of what is laid over
         */
        private Builder(Builder other, boolean withOver) {
            entries.addAll(other.entries);
            over.addAll(withOver ? other.over : List.of());
            foreignKeys.addAll(other.foreignKeys);
            environment = other.environment;
            policies.addAll(other.policies);
            hasClient = other.hasClient;
            files = other.files;
            again = other.again;
            start = other.start == null ? this : other.start;
        }

        /**
         * Adds a properties file (UTF-8).
         *
         * @throws IOException if it can't be read
         */
        public Builder file(Path file) throws IOException {
            return file(String.valueOf(file.getFileName()), file);
        }

        /**
         * Adds a properties file (UTF-8) under another name.
         *
         * @param source its name in messages
         * @throws IOException if it can't be read
         */
        public Builder file(String source, Path file) throws IOException {
            InputStream bytes = new ByteArrayInputStream(ConfigText.content(file));
            // An explicit decoder reports text that is not UTF-8; with only the charset's name, such bytes would be
            // replaced.
            return text(source, new InputStreamReader(bytes, StandardCharsets.UTF_8.newDecoder()));
        }

        /**
         * Adds properties text.
         *
         * @param source its name in messages
         * @throws IOException if it can't be read
         */
        public Builder text(String source, Reader reader) throws IOException {
            entries.addAll(ConfigText.entries(source, reader, problems));
            return this;
        }

        /**
         * Adds single properties, such as the init-params of a web.xml.
         *
         * @param source their name in messages
         */
        public Builder properties(String source, Map<String, String> properties) {
            properties.forEach((key, value) -> property(source, 0, key, value));
            return this;
        }

        /**
         * Lays properties text over all of this, environment variables too, key by key; returns what it has, in order.
         */
        public Map<String, String> over(String source, Reader reader) throws IOException {
            Map<String, String> read = new LinkedHashMap<>();
            for (ConfigEntry entry : ConfigText.entries(source, reader, problems)) {
                over.add(entry);
                read.put(entry.key(), entry.value());
            }
            return read;
        }

        /**
         * Checks what is laid over by itself, as far as that is possible.
         *
         * @throws ConfigException with all mistakes
         */
        public void checkOver() {
            new SettingsParser(over, Map.of(), List.of(), problems, foreignKeys).checkGrammar();
            ConfigException.throwAll(problems);
        }

        /** Adds one property. */
        public Builder property(String key, String value) {
            return property("code", 0, key, value);
        }

        /**
         * Adds one property, read by the caller.
         *
         * @param source the name of its place in messages
         * @param line the line there, from 1; 0 where there are no lines
         */
        public Builder property(String source, int line, String key, String value) {
            entries.add(new ConfigEntry(source, line, key, value.strip()));
            return this;
        }

        /**
         * Adds a policy, which rules and calls name as those of the text.
         *
         * @throws IllegalArgumentException by {@link #build} if there is another policy of that name
         */
        public Builder policy(Policy policy) {
            policies.add(policy);
            return this;
        }

        /**
         * Notes a mistake that the caller has found in a property, to report it with all others. Further mistakes in
         * that property are not reported.
         *
         * @param source the name of its place in messages
         * @param line the line there, from 1; 0 where there are no lines
         * @param mistake a code of docs/diagnostics.md, what is wrong, and what to do
         */
        public Builder mistake(String source, int line, String key, String mistake) {
            problems.addFirst(source, line, key, mistake);
            return this;
        }

        /**
         * The caller's own keys: they are accepted, checked if this library knows them, and suggested for similar unknown keys.
         */
        public Builder foreignKeys(Collection<String> keys) {
            foreignKeys.addAll(keys);
            return this;
        }

        /**
         * Whether the application has a Redis client, for {@link io.limiter.application.Limiter#start(LimiterConfig,
         * io.limiter.Backend)}: then the backend is Redis without an address, unless {@code limiter.backend} is set.
         */
        public Builder applicationHasClient(boolean has) {
            hasClient = has;
            return this;
        }

        /**
         * Environment variables override everything: {@code LIMITER_REDIS_ADDRESS} is
         * {@code limiter.redis.address}, and {@code LIMITER_REDIS_STARTUP_WAIT} or, as Spring Boot writes it,
         * {@code LIMITER_REDIS_STARTUPWAIT} is {@code limiter.redis.startup-wait}. Variables that match no key, or are
         * empty, are ignored; those that look like settings are logged.
         */
        public Builder environment(Map<String, String> variables) {
            environment = Map.copyOf(variables);
            return this;
        }

        /**
         * How to read all of this again, for {@code limiter.reload.interval} and {@link
         * io.limiter.application.Limiter#reload}.
         *
         * @param files the files to watch for changes, and folders with files; empty if there are none on this machine
         * @param again reads everything again, or throws the mistakes. Called by one thread at a time
         */
        public Builder readAgain(List<Path> files, Callable<LimiterConfig> again) {
            this.files = List.copyOf(files);
            this.again = again;
            start = null;
            return this;
        }

        /**
         * The configuration.
         *
         * @throws ConfigException if the text has mistakes: one message lists them all
         */
        public LimiterConfig build() {
            Settings settings = new SettingsParser(entries, environment, over, problems, foreignKeys)
                    .parse(policies, hasClient, files);
            ConfigException.throwAll(problems);
            return new LimiterConfig(settings, new Builder(this, true));
        }
    }
}
