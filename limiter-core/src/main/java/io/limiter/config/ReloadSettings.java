package io.limiter.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how a configuration is read again while the limiter runs. Immutable. Two are equal if their intervals
 * are; the source of a configuration is not compared.
 *
 * @param interval how often the files are checked, from 1 s to 1 h; null for never
 * @param files the files to check; empty if the configuration is in no file of this machine
 * @param again reads the configuration again, or throws its mistakes; null if it can't be read again
 * @param limitsIn the names in messages of the texts that have a rule, a policy or a plan
 * @param text the properties as they are written, except those of Redis; null if the configuration is made in code
 */
public record ReloadSettings(
        @Nullable Duration interval,
        List<Path> files,
        @Nullable Callable<LimiterConfig> again,
        Set<String> limitsIn,
        @Nullable Map<String, String> text) {
    /** For a configuration that can't be read again. */
    public static final ReloadSettings NONE = new ReloadSettings(null, List.of(), null, Set.of(), null);

    private static final int MOST_BYTES = 16 << 20;
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofHours(1);

    /**
     * Checks the settings and copies the collections.
     *
     * @throws ConfigException if the interval is out of range, or there is no file to check
     */
    public ReloadSettings {
        files = List.copyOf(files);
        limitsIn = Set.copyOf(limitsIn);
        Problems problems = new Problems();
        problems.on("limiter.reload", interval)
                .must(
                        interval == null || (interval.compareTo(SHORTEST) >= 0 && interval.compareTo(LONGEST) <= 0),
                        "not a duration from 1s to 1h; write one such as 5s")
                .must(
                        interval == null || !files.isEmpty(),
                        "RL-158 the configuration is in no file of this machine whose changes could be seen; name one (in"
                                + " web.xml config = file:/etc/limiter.properties, for Spring Boot"
                                + " spring.config.additional-location = file:/etc/app/), or remove this line");
        problems.throwIfAny();
    }

    /**
     * The content of a configuration file.
     *
     * @throws IOException if it can't be read, is no regular file, or has more than 16 MB: a device may have no end, and a
     *     FIFO no writer
     */
    public static byte[] content(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("RL-160 " + file + " is no regular file; write the configuration into one");
        }
        try (InputStream bytes = Files.newInputStream(file)) {
            byte[] content = bytes.readNBytes(MOST_BYTES + 1);
            if (content.length > MOST_BYTES) {
                throw new IOException("RL-160 " + file + " has more than 16 MB; write the configuration alone into it");
            }
            return content;
        }
    }

    /** The same with the settings of the entries. */
    ReloadSettings read(Entries entries) {
        return new ReloadSettings(
                entries.read("limiter.reload", LimitText::parseDuration),
                files,
                again,
                // Only texts have lines.
                entries.all().stream()
                        .filter(entry -> entry.line() > 0 && Group.isKey(entry.key()))
                        .map(ConfigEntry::source)
                        .collect(Collectors.toSet()),
                text(entries));
    }

    /** Redis has secrets, and settings that do not change. */
    private static Map<String, String> text(Entries entries) {
        Map<String, String> text = new LinkedHashMap<>();
        entries.all().stream()
                .filter(entry -> !entry.key().startsWith("limiter.redis."))
                .forEach(entry -> text.put(entry.key(), entry.value()));
        return Collections.unmodifiableMap(text);
    }

    /** The same for a configuration that code has changed. */
    ReloadSettings changedInCode() {
        return new ReloadSettings(interval, files, again, limitsIn, null);
    }

    /** Without the text, which may contain credentials. */
    @Override
    public String toString() {
        return "ReloadSettings[" + interval + " " + files + "]";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ReloadSettings settings && Objects.equals(interval, settings.interval);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(interval);
    }
}
