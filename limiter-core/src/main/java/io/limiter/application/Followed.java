package io.limiter.application;

import io.limiter.Backend;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.config.LimiterConfig;
import io.limiter.control.Control;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlledBackend;
import io.limiter.internal.control.InForce;
import io.limiter.internal.follow.Follower;
import io.limiter.internal.follow.Layer;
import io.limiter.redis.RedisBackend;
import io.limiter.redis.RedisControlStore;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What an instance follows, and how its decisions do. Nothing of it exists unless there is a group. */
final class Followed implements Follower.Instance, LimiterMonitor.RuleNames, AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Followed.class);
    static final Duration LONGEST_START = Duration.ofSeconds(1);

    final Control control;
    final InForce inForce;
    final Follower follower;
    private final Limiter limiter;
    private final Runnable endNaming;

    private Followed(Limiter limiter, ControlSettings settings, RedisControlStore store, InForce inForce) {
        this.limiter = limiter;
        this.inForce = inForce;
        this.control = new Control(store.forPublishers(), Objects.requireNonNull(settings.group()), settings.secret());
        this.follower = new Follower(store, settings, inForce, this);
        this.endNaming = limiter.rateLimiter().monitor().registerRuleNames(this);
    }

    /** What backends of a configuration follow; null if nothing. */
    static @Nullable InForce inForce(LimiterConfig config) {
        return config.settings().operation().control().group() == null ? null : new InForce(TimeSource.system());
    }

    /** A backend that follows, if there is anything to follow. */
    static Backend backend(Backend plain, @Nullable InForce inForce, long instances) {
        return inForce == null ? plain : new ControlledBackend(plain, inForce, instances);
    }

    /** Null unless there is a group, and a Redis. */
    static @Nullable Followed of(
            Limiter limiter, LimiterConfig config, @Nullable Backend shared, @Nullable InForce inForce) {
        if (inForce == null) {
            return null;
        }
        if (shared instanceof RedisBackend redis) {
            return new Followed(limiter, config.settings().operation().control(), RedisControlStore.of(redis), inForce);
        }
        LOG.warn("RL-513 limiter.control.group has no effect without Redis: nothing that is published is read; add"
                + " limiter.redis.address");
        return null;
    }

    @Override
    public void lay(Layer layer) {
        limiter.lay(layer);
    }

    @Override
    public void check(Layer layer) {
        limiter.check(layer);
    }

    @Override
    public Map<String, Policy> policies() {
        return limiter.policies();
    }

    @Override
    public boolean hasRule(String name) {
        return limiter.config().settings().rules().stream()
                .anyMatch(rule -> rule.name().equals(name));
    }

    @Override
    public void hurry(Policy policy) {
        limiter.rateLimiter().announce(policy);
    }

    @Override
    public Stream<String> of(String policy, boolean shadow) {
        return Stream.of();
    }

    @Override
    public String operator(String policy, PartitionKey key) {
        return inForce.operator(policy, key);
    }

    /** What somebody has published must not keep an application from starting: it is taken out of force if that helps. */
    static <T> T fitting(Limiter limiter, @Nullable Followed followed, Layer published, Supplier<T> action) {
        try {
            return action.get();
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            if (followed == null || published.text() == null) {
                throw wrong;
            }
            limiter.lay(new Layer(null, published.switches()));
            try {
                T done = action.get();
                followed.follower.drop(wrong);
                return done;
            } catch (RuntimeException own) {
                limiter.lay(published);
                throw own;
            }
        }
    }

    @Override
    public void close() {
        follower.close();
        endNaming.run();
    }
}
