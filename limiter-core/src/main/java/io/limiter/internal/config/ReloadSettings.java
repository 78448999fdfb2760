package io.limiter.internal.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how settings are read again while the limiter runs. Immutable. Two are equal if what needs a restart is; what was
 * written where is not compared.
 *
 * @param interval how often the files are checked; null for never
 * @param files the files to check for changes, and folders with files; empty if there are none on this machine, null if the
 *     settings can't be read again
 * @param entries the properties by their keys, as they are written
 * @param fixed the values in force that need a restart, by key
 */
public record ReloadSettings(
        @Nullable Duration interval,
        @Nullable List<Path> files,
        Map<String, ConfigEntry> entries,
        Map<String, @Nullable Object> fixed) {
    static final String INTERVAL = "limiter.reload.interval";
    private static final String LIMITS = ".limits";

    static ReloadSettings read(PropertyReader reader, @Nullable List<Path> files) {
        Duration interval = reader.duration(INTERVAL);
        reader.must(
                INTERVAL,
                interval == null || files != null && !files.isEmpty(),
                "RL-158 the configuration is in no file of this machine whose changes could be seen; name one (in"
                        + " web.xml config = file:/etc/limiter.properties, for Spring Boot"
                        + " spring.config.additional-location = file:/etc/app/), or remove this line");
        return new ReloadSettings(interval, files, reader.byKey(), reader.fixed());
    }

    /** The files to check, of settings that can be read again; throws an {@link IllegalStateException} for others. */
    public List<Path> readable() {
        if (files == null) {
            throw new IllegalStateException("the configuration was made in code and can't be read again; call"
                    + " Limiter.replace, or start with LimiterConfig.load(file)");
        }
        return files;
    }

    /**
     * The names in messages of the texts that have a rule, a policy or a plan. Only texts have lines. A text of one property, such as
     * a file of a tree with one for each key, has a limit only if that property is one.
     */
    public Set<String> limitsIn() {
        Map<String, String> keys = new HashMap<>();
        entries.values().stream()
                .filter(entry -> entry.line() > 0 && NamedKeys.has(entry.key()))
                .forEach(entry -> keys.merge(entry.source(), entry.key(), (one, other) -> LIMITS));
        keys.values().removeIf(key -> !key.endsWith(LIMITS));
        return keys.keySet();
    }

    /** Where each property is written, by its key. */
    public Map<String, String> origins() {
        Map<String, String> origins = new LinkedHashMap<>();
        entries.forEach((key, entry) -> origins.put(key, entry.place()));
        return origins;
    }

    /** The properties that differ in the next settings and need a restart. */
    public List<String> restartsFor(ReloadSettings next) {
        return next.fixed.keySet().stream()
                // A configuration in code does not have the application's own keys.
                .filter(key -> fixed.containsKey(key) && !Objects.equals(fixed.get(key), next.fixed.get(key)))
                .filter(key -> !key.equals(INTERVAL) || next.files != null)
                .toList();
    }

    /**
     * What differs in the next settings, as sentences that begin with their code: what is gone, then each property as it is written.
     * What needs a restart can't differ, and has the secrets.
     */
    public List<String> changesTo(ReloadSettings next) {
        List<String> all = new ArrayList<>();
        for (NamedKeys group : List.of(NamedKeys.POLICIES, NamedKeys.RULES)) {
            Set<String> gone = group.names(entries.values());
            gone.removeAll(group.names(next.entries.values()));
            gone.forEach(name -> all.add("RL-161 " + group.start + name + " was removed and counts nothing any more"));
        }
        Set<String> keys = new LinkedHashSet<>(entries.keySet());
        keys.addAll(next.entries.keySet());
        keys.removeIf(ConfigKey::isFixed);
        for (String key : keys) {
            ConfigEntry now = entries.get(key);
            ConfigEntry then = next.entries.get(key);
            if (now == null || then == null || !now.value().equals(then.value())) {
                all.add("RL-162 " + key + ": " + shown(now) + " -> " + shown(then));
            }
        }
        return List.copyOf(all);
    }

    private static String shown(@Nullable ConfigEntry entry) {
        return entry == null ? "(not set)" : Problems.shown(entry.key(), entry.value());
    }

    /** Without the text, which may contain credentials. */
    @Override
    public String toString() {
        return "ReloadSettings[" + interval + " " + files + "]";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ReloadSettings settings && fixed.equals(settings.fixed);
    }

    @Override
    public int hashCode() {
        return fixed.hashCode();
    }
}
