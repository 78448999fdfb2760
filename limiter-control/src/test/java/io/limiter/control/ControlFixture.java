package io.limiter.control;

import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.application.SteppedLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
    /** How far the clock of Redis is ahead, for those that {@link #steppedControl} and {@link #instance(String, String...)} make. */
    final AtomicLong redisAheadMicros = new AtomicLong();

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

    /** Control that sees the stepped clock of Redis. */
    Control steppedControl(String address) {
        return new Control(
                new SteppedStore(open(ControlStore.open(address, null, null)), redisAheadMicros), group, SECRET);
    }

    /** Redis as it would be with another clock. */
    private static final class SteppedStore extends ControlStore {
        private final AtomicLong ahead;

        SteppedStore(ControlStore store, AtomicLong ahead) {
            super(store);
            this.ahead = ahead;
        }

        @Override
        List<String> run(String name, List<String> keys, List<String> arguments) {
            boolean isReport = name.equals("report");
            List<String> there = new ArrayList<>(arguments);
            if (name.equals("publish") && !there.get(5).isEmpty()) {
                there.set(6, Long.toString(Long.parseLong(there.get(6)) - ahead.get() / 1_000));
            }
            List<String> answer = super.run(name, keys, there);
            return isReport
                    ? List.of(Long.toString(Long.parseLong(answer.get(0)) + ahead.get() / 1_000_000), answer.get(1))
                    : answer;
        }
    }

    Control control(String address, String secret) {
        return new Control(open(ControlStore.open(address, null, null)), group, secret);
    }

    /** An instance as applications start one. */
    Limiter instance(LimiterConfig.Builder config, String... lines) {
        return open(Limiter.start(with(config, lines)));
    }

    /** An instance whose overrides and switches end by the clock of {@link #stepUntil}. */
    Limiter instance(String address, String... lines) {
        LimiterConfig made = with(config(address), lines);
        return open(SteppedLimiter.start(
                made,
                new Following(
                        made.settings().operation().control(),
                        new InForce(() -> TimeSource.system().nowMicros() + aheadMicros.get()),
                        Duration.ofMillis(20),
                        redis -> new SteppedStore(ControlStore.of(redis, false), redisAheadMicros))));
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

    /** The overrides and switches in force. */
    static Set<Entry> entries(Limiter limiter) {
        return limiter.followed(Follower.class).orElseThrow().inForce.entries().all();
    }

    /** Waits for the instances; returns why each does not run what is published, by name. Empty if it does. */
    static Map<String, String> answers(Control control) {
        Map<String, String> all = new TreeMap<>();
        await("each has looked", () -> {
            all.clear();
            control.instances().forEach(one -> all.put(one.name(), one.isCurrent() ? "" : one.problem()));
            return !all.isEmpty() && all.values().stream().noneMatch(why -> why.startsWith("it has not looked"));
        });
        return all;
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

    static void await(String what, BooleanSupplier isSo) {
        Await.until(LONG, what, isSo);
    }

    /** Sets an override of a key, or a switch. */
    static void set(Control control, String target, String key, String to, Instant until, String author, String note) {
        control.set(new Entry(target, key, to, until, author, note));
    }

    static Instant soon() {
        return Instant.now().plusSeconds(3_600);
    }

    static Instant tomorrow() {
        return Instant.now().plusSeconds(86_400);
    }
}
