package io.limiter.control;

import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.application.SteppedLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.control.Directive;
import io.limiter.kit.Await;
import io.limiter.redis.RedisControlStore;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import redis.clients.jedis.Jedis;

/** Instances of a group on a Redis, and control of it. */
abstract class ControlFixture {
    static final String SECRET = "0123456789abcdef";
    static final Duration LONG = Duration.ofSeconds(60);
    private static final long STEP_PAUSE_NANOS = 500_000_000;
    private static final AtomicInteger GROUPS = new AtomicInteger();

    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicLong aheadMicros = new AtomicLong();
    final String prefix = "control" + GROUPS.incrementAndGet();
    /** Of each test its own. */
    final String group = getClass().getSimpleName() + "-" + System.nanoTime() + "-" + GROUPS.incrementAndGet();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
    }

    <T extends AutoCloseable> T open(T one) {
        open.add(one);
        return one;
    }

    Control control(String address) {
        return control(address, SECRET);
    }

    Control control(String address, String secret) {
        return new Control(open(RedisControlStore.open(address, null, null)), group, secret);
    }

    /** An instance as applications start one. */
    Limiter instance(LimiterConfig.Builder config, String... lines) {
        return open(Limiter.start(with(config, lines)));
    }

    /** An instance whose overrides and switches end by the clock of {@link #stepUntil}. */
    Limiter instance(String address, String... lines) {
        TimeSource time = () -> TimeSource.system().nowMicros() + aheadMicros.get();
        return open(SteppedLimiter.start(with(config(address), lines), time));
    }

    private LimiterConfig.Builder config(String address) {
        return LimiterConfig.builder()
                .property("limiter.redis.address", address)
                .property("limiter.redis.deadline", "30s")
                .property("limiter.redis.startup-wait", "60s")
                .property("limiter.redis.prefix", prefix)
                .property("limiter.control.group", group)
                .property("limiter.control.secret", SECRET);
    }

    private static LimiterConfig with(LimiterConfig.Builder config, String... lines) {
        for (String line : lines) {
            String[] parts = line.split(" = ", 2);
            config.property(parts[0], parts[1]);
        }
        return config.build();
    }

    /** Steps the clock until it is so. A report of the instance takes the step back, for it learns the time of Redis. */
    void stepUntil(Duration step, String what, BooleanSupplier isSo) {
        long[] next = {System.nanoTime()};
        Await.until(LONG, what, () -> {
            if (System.nanoTime() >= next[0]) {
                aheadMicros.addAndGet(step.toNanos() / 1_000);
                next[0] = System.nanoTime() + STEP_PAUSE_NANOS;
            }
            return isSo.getAsBoolean();
        });
    }

    static String limits(Limiter limiter, String policy) {
        return limiter.policy(policy).limits().toString();
    }

    static String findings(Limiter limiter) {
        return limiter.rateLimiter().monitor().health().findings().toString();
    }

    /** Uses a Redis with all rights. */
    static void redis(String address, Consumer<Jedis> use) {
        try (Jedis redis = new Jedis(URI.create(address))) {
            use.accept(redis);
        }
    }

    static void await(String what, BooleanSupplier isSo) throws Exception {
        Await.until(LONG, what, isSo);
    }

    /** A published text, without a signature. */
    static Directive text(long version, long micros, String author, String text) {
        return Directive.text(Directive.Kind.TEXT, version, micros, author, "", text);
    }

    static Instant soon() {
        return Instant.now().plusSeconds(3_600);
    }

    static Instant tomorrow() {
        return Instant.now().plusSeconds(86_400);
    }
}
