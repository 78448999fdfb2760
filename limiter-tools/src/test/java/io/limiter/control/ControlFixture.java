package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.application.SteppedLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.Access;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.redis.PlainCommands;
import io.limiter.redis.RedisBackend;
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
public abstract class ControlFixture {
    public static final String SECRET = "0123456789abcdef";
    static final PartitionKey ALICE =
            PartitionKey.builder().add("user", "alice").build();
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

    /** The name of a key of the group. */
    String key(String name) {
        return ControlStore.key(group, name);
    }

    /** A version as a publisher with the secret makes it. */
    Published.Stored signed(long version, String text, Entry... entries) {
        return Published.Stored.of(version, text, List.of(entries), new Signer(group, SECRET));
    }

    /** Writes a version to Redis directly. Its author may not have the secret. */
    void plant(String address, Published.Stored version) {
        String number = version.head().replaceFirst(" .*", "");
        redis(address, redis -> {
            redis.set(key("text:" + number), version.record());
            redis.set(key("entries:" + number), version.entries());
            redis.set(key("current"), version.head());
        });
    }

    Control control(String address) {
        return opened(RedisBackend.builder().address(address), SECRET);
    }

    /** Control that sees the stepped clock of Redis. */
    Control steppedControl(String address) {
        return open(new Control(new SteppedStore(commands(RedisBackend.builder().address(address)))));
    }

    /** Redis as it would be with another clock. */
    private final class SteppedStore extends ControlStore {
        SteppedStore(PlainCommands redis) {
            super(redis, group, SECRET);
        }

        @Override
        long report(List<String> nameAndReport) {
            return super.report(nameAndReport) + redisAheadMicros.get();
        }

        @Override
        Map<String, Report> reports() {
            Map<String, Report> all = super.reports();
            all.replaceAll((name, one) -> new Report(
                    one.seconds() + redisAheadMicros.get() / 1_000_000,
                    one.inForce(),
                    one.latest(),
                    one.seen(),
                    one.problem()));
            return all;
        }
    }

    Control opened(RedisBackend.Builder redis, String secret) {
        return open(new Control(new ControlStore(commands(redis), group, secret)));
    }

    /** Also where this machine is so busy that a connection, or an answer, takes longer than a person would wait. */
    private PlainCommands commands(RedisBackend.Builder redis) {
        PlainCommands commands = PlainCommands.open(Access.LIBRARY, redis, Duration.ofSeconds(60));
        Await.until("control is connected", () -> {
            try {
                return !commands.texts(List.of(key("current")), 1).isEmpty();
            } catch (BackendException failed) {
                return !String.valueOf(failed.getMessage()).startsWith("RL-220 no connection");
            }
        });
        return commands;
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
                        new InForce(() -> TimeSource.system().nowMicros() + aheadMicros.get()),
                        Duration.ofMillis(20),
                        SteppedStore::new)));
    }

    LimiterConfig.Builder config(String address) {
        return config(address, prefix, group);
    }

    /** Of an instance that waits for an answer, however slow this machine is. */
    public static LimiterConfig.Builder config(String address, String prefix, String group) {
        return LimiterConfig.builder()
                .property("limiter.redis.address", address)
                .property("limiter.redis.deadline", "30s")
                .property("limiter.redis.startup-wait", "60s")
                .property("limiter.redis.prefix", prefix)
                .property("limiter.control.group", group)
                .property("limiter.control.secret", SECRET);
    }

    static LimiterConfig with(LimiterConfig.Builder config, String... lines) {
        for (String line : lines) {
            String[] parts = line.split(" = ", 2);
            config.property(parts[0], parts[1]);
        }
        return config.build();
    }

    /** Sets what ends soon, but not before Redis hears of it, however slow this machine is. */
    static void setForSeconds(Control control, String scope, String key, String value) {
        for (int seconds = 2; ; seconds *= 2) {
            try {
                set(control, scope, key, value, control.now().plusSeconds(seconds), "op", "");
                return;
            } catch (IllegalArgumentException over) {
                assertTrue(seconds < 64, over::toString);
            }
        }
    }

    /** Steps the clock until it is so. A report of the instance takes the step back, for it learns the time of Redis. */
    void stepUntil(Duration step, String what, BooleanSupplier isSo) {
        long[] next = {System.nanoTime()};
        Await.until(what, () -> {
            if (System.nanoTime() >= next[0]) {
                aheadMicros.addAndGet(step.toNanos() / 1_000);
                next[0] = System.nanoTime() + STEP_PAUSE_NANOS;
            }
            return isSo.getAsBoolean();
        });
    }

    /** The overrides and switches in force. */
    static Set<Entry> entries(Limiter limiter) {
        return limiter.followed(Follower.class).orElseThrow().inForce.all();
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

    /** The same of the only instance. */
    static String refusal(Control control) {
        return answers(control).values().iterator().next();
    }

    static String limits(Limiter limiter, String policy) {
        return limiter.policy(policy).limits().toString();
    }

    static String findings(Limiter limiter) {
        return limiter.rateLimiter().monitor().health().findings().toString();
    }

    /** Uses a Redis with all rights. */
    static void redis(String address, Consumer<Jedis> use) {
        try (Jedis redis = RedisServers.jedis(address)) {
            use.accept(redis);
        }
    }

    static void await(String what, BooleanSupplier isSo) {
        Await.until(what, isSo);
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
