package io.limiter.application;

import io.limiter.Backend;
import io.limiter.LimiterMonitor;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.RedisSettings;
import io.limiter.internal.config.RedisSettings.RedisMode;
import io.limiter.internal.config.Settings;
import io.limiter.internal.config.Settings.DenialRecord;
import io.limiter.internal.config.Settings.Storage;
import io.limiter.redis.RedisBackend;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Starts the backend that the configuration describes. */
final class BackendStart {
    static final Logger LOG = LoggerFactory.getLogger(BackendStart.class);

    private static final DenialRecord USUAL =
            new DenialRecord(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS);

    /** How a Redis is reached. */
    private static final String CONNECTION = "limiter\\.redis\\.(address|client|config|mode|master|username|password)";

    /** What else has no effect where the state is in this JVM. */
    private static final String SHARED = "limiter\\.(instances|redis\\.(deadline|startup-wait))";

    private BackendStart() {}

    /**
     * Logs what is written and has no effect: perhaps the address is lost, with a profile or a variable. Several separate instances
     * grant a multiple of each limit.
     *
     * @param hasClient whether the application's own client reaches Redis; else the state is in this JVM
     */
    static void warnOfWhatIsIgnored(Settings settings, boolean hasClient) {
        List<String> ignored = settings.reload().origins().keySet().stream()
                .filter(key -> key.matches(CONNECTION) || !hasClient && key.matches(SHARED))
                .toList();
        if (!ignored.isEmpty()) {
            LOG.warn(
                    hasClient
                            ? "RL-115 the application's own connection to Redis is used, so {} has no effect; remove it"
                            : "RL-111 the backend is in-process, so each instance grants the full limits, and {} has no effect; to"
                                    + " share the limits, set limiter.redis.address, without limiter.backend = in-process",
                    String.join(", ", ignored));
        }
    }

    /**
     * What is worth a line about these settings. Without a secret, anybody who can read the keys in Redis can guess short ones.
     *
     * @param isShared whether keys are stored in Redis
     */
    static List<String> findings(Settings settings, boolean isShared) {
        List<String> rules = settings.rulesThat(
                rule -> rule.parts().anyMatch(part -> part.kind().isSecret()));
        Stream<String> guessed = isShared && settings.redis().keySecret() == null && !rules.isEmpty()
                ? Stream.of(
                        "RL-145 rules " + rules + " have keys that may be secrets, which are stored in Redis as plain"
                                + " SHA-256, so short ones can be guessed; add limiter.redis.key-secret, the same in all instances")
                : Stream.of();
        return Stream.concat(settings.notes().stream(), guessed).toList();
    }

    /**
     * What decides by these settings.
     *
     * @param shared null where this JVM decides
     * @param source what its decisions follow; null for nothing
     */
    static RateLimiter rateLimiter(Settings settings, @Nullable Backend shared, @Nullable ConfigSource source) {
        Storage storage = settings.storage();
        InProcessBackend inProcess = InProcessBackend.builder()
                .maxEntries(storage.maxEntries())
                .maxStamps(storage.maxTimestamps())
                .build();
        RateLimiters.Builder builder = RateLimiters.builder(shared == null ? inProcess : wrapped(shared, source, 1))
                .maxWaiting(storage.maxWaiting())
                .holdKeep(storage.holdKeep());
        if (shared != null) {
            builder.fallback(wrapped(inProcess, source, storage.instances())).instances(storage.instances());
        }
        LOG.info("limiter started: backend {}, policies {}", shared != null ? "redis" : "in-process", shown(settings));
        return builder.build();
    }

    /** The thread that waits for the connection, and warms up; null where there is none. */
    static @Nullable Thread connecting(@Nullable Backend shared, Duration longest) {
        if (!(shared instanceof RedisBackend redis)) {
            return null;
        }
        Thread connecting = new Thread(() -> redis.awaitConnected(longest), "limiter-redis-start");
        connecting.setDaemon(true);
        connecting.start();
        return connecting;
    }

    private static Backend wrapped(Backend plain, @Nullable ConfigSource source, long instances) {
        return source == null ? plain : source.wrapped(plain, instances);
    }

    /** Several limiters can share a rate limiter: one without settings for denials leaves those of the others. */
    static void record(RateLimiter rateLimiter, @Nullable DenialRecord before, DenialRecord after) {
        if (!after.equals(before == null ? USUAL : before)) {
            rateLimiter.monitor().recordDenials(after.linesPerSecond(), after.keys());
        }
    }

    static List<String> shown(Settings settings) {
        return settings.policies().values().stream()
                .map(policy -> policy.name() + " " + policy.limits())
                .toList();
    }

    /** What was removed is seen where nothing but warnings is logged. */
    static void logReplacement(Snapshot now, Snapshot next) {
        Settings settings = next.config().settings();
        LOG.info("configuration replaced: policies {}", shown(settings));
        now.config()
                .settings()
                .reload()
                .changesTo(settings.reload())
                .forEach(change -> LOG.atLevel(change.startsWith("RL-161") ? Level.WARN : Level.INFO)
                        .log(change));
    }

    static Backend redis(RedisSettings settings) {
        RedisSettings.Connection connection = settings.connection();
        if (connection.isMissing()) {
            throw new IllegalStateException(
                    "the configuration has no Redis address, because the caller announced a client; pass a"
                            + " backend on it to Limiter.start(config, backend)");
        }
        RedisBackend.Builder builder = RedisBackend.builder()
                .prefix(settings.prefix())
                .deadline(settings.deadline())
                .denialMaxAge(settings.denialMaxAge())
                .keyHash(settings.keyHash());
        switch (connection.client()) {
            case AUTO -> {}
            case REDISSON -> builder.redisson();
            case LETTUCE -> builder.lettuce();
        }
        if (connection.config() != null) {
            builder.yaml(text(connection.config()));
        } else if (connection.mode() == RedisMode.CLUSTER) {
            builder.cluster(connection.addresses());
        } else if (connection.mode() == RedisMode.SENTINEL) {
            builder.sentinel(Objects.requireNonNull(connection.master(), "master"), connection.addresses());
        } else {
            builder.address(connection.addresses().get(0));
        }
        if (connection.password() != null) {
            builder.credentials(connection.username(), connection.password());
        }
        return builder.build();
    }

    /** The text at {@code classpath:name} or {@code file:path}. */
    private static String text(String location) {
        String place = location.substring(location.indexOf(':') + 1);
        try (InputStream stream = location.startsWith("file:")
                ? new ByteArrayInputStream(ConfigText.content(Path.of(place)))
                : resource(place.replaceFirst("^/", ""))) {
            if (stream == null) {
                throw new FileNotFoundException("there is no such resource on the class path");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "RL-108 limiter.redis.config = " + location + " can't be read (" + e.getMessage()
                            + "); write classpath:name or file:path of a file that is there",
                    e);
        }
    }

    private static @Nullable InputStream resource(String name) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        InputStream found = context == null ? null : context.getResourceAsStream(name);
        return found != null ? found : BackendStart.class.getClassLoader().getResourceAsStream(name);
    }
}
