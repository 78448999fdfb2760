package io.limiter.wiring;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.LimiterConfig.RedisMode;
import io.limiter.config.LimiterConfig.RedisSettings;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.redis.RedisBackend;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A rate limiter as configured, running: its backend, and its policies by name. Thread-safe. Close it to end the backend.
 *
 * <pre>{@code
 * try (Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")))) {
 *     Decision decision = limiter.tryAcquire("vote", PartitionKey.of(address), 1);
 * }
 * }</pre>
 */
public final class Limiter implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Limiter.class);

    private final LimiterConfig config;
    private final RateLimiter rateLimiter;

    private Limiter(LimiterConfig config, RateLimiter rateLimiter) {
        this.config = config;
        this.rateLimiter = rateLimiter;
        config.policies().values().forEach(rateLimiter::announce);
    }

    /**
     * Starts what the configuration says. With Redis it connects in the background and waits for the first connection no
     * longer than {@code limiter.redis.startup-wait}; it starts without one, and the failure modes answer until there is.
     *
     * @throws IllegalStateException if the configuration says Redis and Redisson is not on the class path, or its
     *     configuration file can't be read
     */
    public static Limiter start(LimiterConfig config) {
        if (config.backend() == BackendKind.REDIS) {
            return start(config, redis(config.redis()), BackendKind.REDIS);
        }
        warnOfWhatInProcessIgnores(config);
        return start(config, null, BackendKind.IN_PROCESS);
    }

    /**
     * The same, on a backend that the caller made, on a client that the application has for instance. It is closed with
     * the limiter. While it can't answer, the failure modes do. What the configuration says about how to reach Redis means
     * nothing here.
     */
    public static Limiter start(LimiterConfig config, Backend shared) {
        warnOfWhatASharedBackendIgnores(config.redis());
        return start(config, Objects.requireNonNull(shared, "shared"), BackendKind.REDIS);
    }

    private static Limiter start(LimiterConfig config, @Nullable Backend shared, BackendKind kind) {
        InProcessBackend inProcess = InProcessBackend.builder()
                .maxEntries(config.inProcess().maxEntries())
                .maxStamps(config.inProcess().maxStamps())
                .build();
        RateLimiter rateLimiter = shared == null
                ? RateLimiter.on(inProcess)
                : RateLimiter.builder(shared)
                        .fallback(inProcess)
                        .instances(config.instances())
                        .build();
        LOG.info(
                "limiter started: backend {}, policies {}",
                kind == BackendKind.REDIS ? "redis" : "in-process",
                config.policies().values().stream()
                        .map(policy -> policy.name() + " " + policy.limits())
                        .toList());
        return new Limiter(config, rateLimiter);
    }

    /**
     * The policies of a configuration on a rate limiter that the caller made: on a backend of its own, or in a test with a
     * time that stands still. What the configuration says about backends means nothing here. Closing it closes the rate
     * limiter.
     */
    public static Limiter of(LimiterConfig config, RateLimiter rateLimiter) {
        return new Limiter(
                Objects.requireNonNull(config, "config"), Objects.requireNonNull(rateLimiter, "rateLimiter"));
    }

    /** What was configured. */
    public LimiterConfig config() {
        return config;
    }

    /** The limiter itself, for everything that is not asked by a policy's name. */
    public RateLimiter rateLimiter() {
        return rateLimiter;
    }

    /**
     * The policy of that name.
     *
     * @throws IllegalArgumentException if none is configured; the message lists those that are
     */
    public Policy policy(String name) {
        Policy policy = config.policies().get(name);
        if (policy == null) {
            throw new IllegalArgumentException("no policy '" + name + "' is configured; there are "
                    + config.policies().keySet() + "; add limiter.policies." + name + ".limits = 3/10s");
        }
        return policy;
    }

    /**
     * Takes permits of a policy for a key.
     *
     * @throws IllegalArgumentException if no policy has that name
     */
    public Decision tryAcquire(String policy, PartitionKey key, long permits) {
        return rateLimiter.tryAcquire(policy(policy), key, permits);
    }

    @Override
    public void close() {
        rateLimiter.close();
    }

    /** Several instances on their own grant a multiple of each limit; that must not happen in silence. */
    private static void warnOfWhatInProcessIgnores(LimiterConfig config) {
        boolean pointsToRedis =
                !config.redis().addresses().isEmpty() || config.redis().config() != null;
        if (config.backend() == BackendKind.IN_PROCESS && (pointsToRedis || config.instances() > 1)) {
            LOG.warn("RL-111 the backend is in-process, so each instance grants the whole limits: "
                    + (pointsToRedis
                            ? "limiter.redis.* means nothing beside limiter.backend = in-process; remove that line to share"
                                    + " the limits"
                            : "limiter.instances means nothing without Redis; add limiter.redis.address to share the"
                                    + " limits"));
        }
    }

    private static void warnOfWhatASharedBackendIgnores(RedisSettings redis) {
        List<String> ignored = new ArrayList<>();
        if (!redis.addresses().isEmpty()) {
            ignored.add("limiter.redis.address");
        }
        if (redis.config() != null) {
            ignored.add("limiter.redis.config");
        }
        if (redis.password() != null) {
            ignored.add("limiter.redis.password");
        }
        if (!ignored.isEmpty()) {
            LOG.warn(
                    "RL-115 the application's own connection to Redis is used, so {} {}",
                    String.join(", ", ignored),
                    ignored.size() == 1 ? "means nothing; remove it" : "mean nothing; remove them");
        }
    }

    private static Backend redis(RedisSettings settings) {
        if (settings.config() == null && settings.addresses().isEmpty()) {
            throw new IllegalStateException(
                    "the configuration says no way to Redis, because a client of the caller's was"
                            + " announced; give the backend on it to Limiter.start(config, backend)");
        }
        try {
            RedisBackend.Builder builder =
                    RedisBackend.builder().prefix(settings.prefix()).deadline(settings.deadline());
            if (settings.config() != null) {
                builder.yaml(text(settings.config()));
            } else if (settings.mode() == RedisMode.CLUSTER) {
                builder.cluster(settings.addresses());
            } else if (settings.mode() == RedisMode.SENTINEL) {
                builder.sentinel(Objects.requireNonNull(settings.master(), "master"), settings.addresses());
            } else {
                builder.address(settings.addresses().get(0));
            }
            if (settings.password() != null) {
                builder.credentials(settings.username(), settings.password());
            }
            RedisBackend backend = builder.build();
            backend.awaitConnected(settings.startupWait());
            return backend;
        } catch (NoClassDefFoundError missing) {
            throw new IllegalStateException(
                    "RL-112 "
                            + (settings.config() == null ? "limiter.redis.address" : "limiter.redis.config")
                            + " needs Redisson on the class path; add org.redisson:redisson 4.7.0 or newer",
                    missing);
        }
    }

    /** The text at {@code classpath:name} or {@code file:path}. */
    private static String text(String location) {
        String place = location.substring(location.indexOf(':') + 1);
        try (InputStream stream = location.startsWith("file:")
                ? Files.newInputStream(Path.of(place))
                : resource(place.startsWith("/") ? place.substring(1) : place)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "RL-108 limiter.redis.config = " + location + " can't be read (" + e.getMessage()
                            + "); write classpath:name or file:path of a file that is there",
                    e);
        }
    }

    private static InputStream resource(String name) throws IOException {
        ClassLoader ofApplication = Thread.currentThread().getContextClassLoader();
        InputStream stream = ofApplication == null ? null : ofApplication.getResourceAsStream(name);
        if (stream == null) {
            stream = Limiter.class.getClassLoader().getResourceAsStream(name);
        }
        if (stream == null) {
            throw new FileNotFoundException("there is no such resource on the class path");
        }
        return stream;
    }
}
