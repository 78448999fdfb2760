package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how settings are read again while the limiter runs. Immutable. Two are equal if what needs a restart is; their
 * sources are not compared.
 *
 * @param interval how often the files are checked; null for never
 * @param source where the settings are read
 * @param limitsIn the names in messages of the texts that have a rule, a policy or a plan
 * @param text the properties as they are written, except those of Redis, and the limits of policies in code
 * @param origins where these are written, by key
 * @param fixed the values in force that need a restart, by key
 */
public record ReloadSettings(
        @Nullable Duration interval,
        Source source,
        Set<String> limitsIn,
        Map<String, String> text,
        Map<String, String> origins,
        Map<String, @Nullable Object> fixed) {
    static final String INTERVAL = "limiter.reload.interval";
    private static final int MOST_BYTES = 16 << 20;

    /**
     * Where settings are read.
     *
     * @param files the files to check for changes, and folders with files; empty if there are none on this machine
     * @param isReadable whether they can be read again
     */
    public record Source(List<Path> files, boolean isReadable) {
        /** Of settings that can't be read again. */
        public static final Source NONE = new Source(List.of(), false);

        /** Copies the files. */
        public Source {
            files = List.copyOf(files);
        }

        /** Throws an {@link IllegalStateException} if they can't be read again. */
        public void checkReadable() {
            if (!isReadable) {
                throw new IllegalStateException("the configuration was made in code and can't be read again; call"
                        + " Limiter.replace, or start with LimiterConfig.load(file)");
            }
        }
    }

    static ReloadSettings read(PropertyReader reader, Collection<Policy> inCode, Source source) {
        Duration interval = reader.duration(INTERVAL);
        reader.must(
                INTERVAL,
                interval == null || !source.files().isEmpty(),
                "RL-158 the configuration is in no file of this machine whose changes could be seen; name one (in"
                        + " web.xml config = file:/etc/limiter.properties, for Spring Boot"
                        + " spring.config.additional-location = file:/etc/app/), or remove this line");
        // Only texts have lines.
        Set<String> limitsIn = reader.all().stream()
                .filter(entry -> entry.line() > 0 && NamedKeys.nameIn(entry.key()) != null)
                .map(ConfigEntry::source)
                .collect(Collectors.toSet());
        return new ReloadSettings(interval, source, limitsIn, text(reader, inCode), origins(reader), reader.fixed());
    }

    private static Map<String, String> origins(PropertyReader reader) {
        Map<String, String> origins = new LinkedHashMap<>();
        reader.all()
                .forEach(entry ->
                        origins.put(entry.key(), entry.source() + (entry.line() > 0 ? " line " + entry.line() : "")));
        return Collections.unmodifiableMap(origins);
    }

    /** Redis has secrets, and settings that do not change. */
    private static Map<String, String> text(PropertyReader reader, Collection<Policy> inCode) {
        Map<String, String> text = new LinkedHashMap<>();
        reader.all().stream()
                .filter(entry -> !entry.key().startsWith("limiter.redis.")
                        && !entry.key().equals("limiter.control.secret"))
                .forEach(entry -> text.put(entry.key(), entry.value()));
        inCode.forEach(policy -> add(policy, text));
        return Collections.unmodifiableMap(text);
    }

    /** What differs from the defaults, as a text would write it. */
    private static void add(Policy policy, Map<String, String> text) {
        String start = NamedKeys.POLICIES.start + policy.name();
        text.put(
                start + ".limits", policy.limits().stream().map(Limit::toString).collect(Collectors.joining(", ")));
        Policy usual = Policy.of(policy.name(), policy.limits().toArray(Limit[]::new));
        if (policy.onFailure() != usual.onFailure()) {
            text.put(start + ".on-failure", policy.onFailure().name().toLowerCase(Locale.ROOT));
        }
        if (policy.deadline() != null) {
            text.put(start + ".deadline", policy.deadline().toMillis() + "ms");
        }
        if (policy.holds() > 0) {
            text.put(start + ".holds", Integer.toString(policy.holds()));
        }
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

    /** Without the text, which may contain credentials. */
    @Override
    public String toString() {
        return "ReloadSettings[" + interval + " " + source.files() + "]";
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
