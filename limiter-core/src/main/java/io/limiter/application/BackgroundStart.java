package io.limiter.application;

import io.limiter.Backend;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.Settings;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A limiter that connects to Redis while the application does something else. Until it is connected the failure modes decide, so
 * {@link #await} before the first request. Thread-safe.
 */
public final class BackgroundStart {
    private final Limiter limiter;
    private final Thread connecting;

    private BackgroundStart(LimiterConfig config, @Nullable Backend shared, @Nullable ConfigSource source) {
        Duration longest = config.settings().redis().startupWait();
        this.connecting = new Thread(
                () -> {
                    if (shared instanceof RedisBackend redis) {
                        redis.awaitConnected(longest);
                    }
                },
                "limiter-redis-start");
        connecting.setDaemon(true);
        if (shared != null) {
            connecting.start();
        }
        if (source != null) {
            await();
        }
        this.limiter = Limiter.started(config, shared, source);
    }

    /**
     * Starts a limiter. Where {@code limiter.control.group} is set it waits at once, because what is published holds from the first
     * decision on.
     *
     * @param client a backend on the application's own client, closed with the limiter; null for the one of the configuration
     * @throws IllegalStateException as {@link Limiter#start(LimiterConfig)}
     */
    public static BackgroundStart of(LimiterConfig config, @Nullable Backend client) {
        Settings settings = config.settings();
        ConfigSource source = ConfigSource.of(config);
        if (client != null) {
            BackendStart.warnOfWhatASharedBackendIgnores(settings);
        } else if (!config.isShared()) {
            BackendStart.warnOfWhatInProcessIgnores(settings);
        }
        return new BackgroundStart(
                config, client == null && config.isShared() ? BackendStart.redis(settings.redis()) : client, source);
    }

    /** The limiter, closed by the caller. */
    public Limiter limiter() {
        return limiter;
    }

    /**
     * Waits until it is connected and warm, or {@code limiter.redis.startup-wait} is over, which began with the start. An interrupt
     * ends the wait, and is kept.
     */
    public void await() {
        try {
            connecting.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
