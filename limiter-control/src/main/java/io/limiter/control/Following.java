package io.limiter.control;

import io.limiter.Backend;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.application.ConfigSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What a limiter with a group follows: how its decisions do, and {@link Control} on its own connection. */
final class Following implements ConfigSource, LimiterMonitor.RuleNames {
    private static final Logger LOG = DiagnosticLog.of(Following.class);
    private static final Duration LONGEST_START = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(300);

    private final ControlSettings settings;
    private final Duration pause;
    private final Function<RedisBackend, ControlStore> stores;
    final InForce inForce;
    /** Null before the start, and without Redis. */
    private volatile @Nullable Started started;

    private record Started(Control control, Follower follower, Runnable endNaming) {}

    /** One for which a test has another clock, another pause between two looks at what is published, and another Redis. */
    Following(ControlSettings settings, TimeSource time, Duration pause, Function<RedisBackend, ControlStore> stores) {
        this.settings = settings;
        this.stores = stores;
        this.inForce = new InForce(time);
        this.pause = pause;
    }

    /** Found where {@code limiter.control.group} is set. */
    public static final class Maker implements ConfigSource.Maker {
        @Override
        public ConfigSource of(ControlSettings settings) {
            return new Following(settings, TimeSource.system(), PAUSE, redis -> ControlStore.of(redis, false));
        }
    }

    @Override
    public Backend wrapped(Backend plain, long instances) {
        return new OverridingBackend(plain, inForce, instances);
    }

    @Override
    public void start(Target target, @Nullable Backend shared) {
        if (!(shared instanceof RedisBackend redis)) {
            LOG.warn("RL-513 limiter.control.group has no effect without Redis: nothing that is published is read; add"
                    + " limiter.redis.address");
            return;
        }
        String group = Objects.requireNonNull(settings.group(), "group");
        String secret = Objects.requireNonNull(settings.secret(), "secret");
        Follower follower = new Follower(stores.apply(redis), settings, inForce, pause, target);
        started = new Started(
                new Control(ControlStore.of(redis, true), group, secret),
                follower,
                target.limiter().rateLimiter().monitor().registerRuleNames(this));
        follower.start(LONGEST_START);
    }

    /** Null where nothing is followed. */
    @Nullable
    Control control() {
        Started now = started;
        return now == null ? null : now.control;
    }

    @Override
    public void noteOwn() {
        Started now = started;
        if (now != null) {
            now.follower.noteOwn();
        }
    }

    @Override
    public void noteDropped(RuntimeException why) {
        Started now = started;
        if (now != null) {
            now.follower.drop(why);
        }
    }

    @Override
    public Stream<String> of(String policy, boolean shadow) {
        return Stream.of();
    }

    @Override
    public String operator(String policy, PartitionKey key) {
        Entry one = inForce.find(policy, key);
        return one == null ? "" : one.described();
    }

    @Override
    public void close() {
        Started now = started;
        if (now != null) {
            now.follower.close();
            now.endNaming.run();
        }
    }
}
