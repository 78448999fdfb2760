package io.limiter.control;

import io.limiter.Backend;
import io.limiter.TimeSource;
import io.limiter.application.ConfigSource;
import io.limiter.application.Limiter;
import io.limiter.internal.config.ControlSettings;
import io.limiter.redis.PlainCommands;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is published for the group of a limiter.
 *
 * @param pause between two looks at it
 * @param stores where it is, by a connection
 */
record Following(InForce inForce, Duration pause, Function<PlainCommands, ControlStore> stores)
        implements ConfigSource {
    private static final Logger LOG = LoggerFactory.getLogger(Following.class);
    private static final Duration LONGEST_START = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(300);

    /** Found where {@code limiter.control.group} is set. */
    public static final class Maker implements ConfigSource.Maker {
        @Override
        public ConfigSource of(ControlSettings settings) {
            String group = Objects.requireNonNull(settings.group(), "group");
            String secret = Objects.requireNonNull(settings.secret(), "secret");
            InForce inForce = new InForce(TimeSource.system());
            return new Following(inForce, PAUSE, redis -> new ControlStore(redis, group, secret));
        }
    }

    @Override
    public Backend wrapped(Backend plain, long instances) {
        return new OverridingBackend(plain, inForce, instances);
    }

    @Override
    public @Nullable Followed start(Limiter limiter, @Nullable Backend shared) {
        if (shared instanceof RedisBackend redis) {
            Follower follower = new Follower(this, redis, limiter);
            follower.start(LONGEST_START);
            return follower;
        }
        LOG.warn("RL-513 limiter.control.group has no effect without Redis: nothing that is published is read; add"
                + " limiter.redis.address");
        return null;
    }
}
