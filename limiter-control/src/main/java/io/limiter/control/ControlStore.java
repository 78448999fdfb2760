package io.limiter.control;

import io.limiter.BackendException;
import io.limiter.internal.Access;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * What a group has in Redis, by plain commands of Redisson's public API. Each method waits for the answer, so decisions never use it;
 * each throws {@link BackendException} if there is none, or an error. Thread-safe.
 */
public class ControlStore implements AutoCloseable {
    private static final Duration FOLLOWS = Duration.ofSeconds(1);
    /** A person waits longer than a thread that looks again at once: on a starved machine an answer takes seconds. */
    private static final Duration PUBLISHES = Duration.ofSeconds(5);

    /** Questions that are sent before the first answer is waited for. */
    private static final int TOGETHER = 200;

    private static final StringCodec TEXT = StringCodec.INSTANCE;

    private final Supplier<@Nullable RedissonClient> client;
    private final Duration longest;
    private final Runnable end;

    private ControlStore(Supplier<@Nullable RedissonClient> client, Duration longest, Runnable end) {
        this.client = client;
        this.longest = longest;
        this.end = end;
    }

    /** The same: a test changes what it answers. */
    ControlStore(ControlStore other) {
        this(other.client, other.longest, other.end);
    }

    /** On the client of a backend, with which it ends. */
    static ControlStore of(RedisBackend backend, boolean isForPublishers) {
        return new ControlStore(() -> backend.client(Access.LIBRARY), isForPublishers ? PUBLISHES : FOLLOWS, () -> {});
    }

    /**
     * With a small client of its own, which {@link #close} ends.
     *
     * @param address {@code redis://host:port}, or {@code rediss://}
     * @param username null for Redis' default user
     * @param password null for none
     */
    public static ControlStore open(String address, @Nullable String username, @Nullable String password) {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(2)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0);
        return open(password == null ? config : config.setUsername(username).setPassword(password));
    }

    /** The same from Redisson's YAML, for clusters and sentinels. */
    public static ControlStore openYaml(String yaml) {
        try {
            return open(Config.fromYAML(yaml));
        } catch (RuntimeException wrong) {
            // Its message would show lines of the text, which may contain a password.
            throw new IllegalArgumentException("RL-113 not a Redisson configuration in YAML ("
                    + wrong.getClass().getSimpleName() + "); check its indentation and quotes");
        }
    }

    private static ControlStore open(Config config) {
        RedissonClient own = Redisson.create(config.setLazyInitialization(true));
        return new ControlStore(() -> own, PUBLISHES, own::shutdown);
    }

    /**
     * The text of a key; null if there is none. More than one byte too many is not read.
     *
     * @throws IllegalArgumentException if it has more bytes
     */
    @Nullable
    String get(String key, int mostBytes) {
        return getAll(List.of(key), mostBytes).get(0);
    }

    /** The same for many keys, in their order. */
    List<@Nullable String> getAll(List<String> keys, int mostBytes) {
        List<@Nullable String> all = new ArrayList<>();
        for (int i = 0; i < keys.size(); i += TOGETHER) {
            List<String> some = keys.subList(i, Math.min(keys.size(), i + TOGETHER));
            List<ByteBuffer> read =
                    some.stream().map(key -> ByteBuffer.allocate(mostBytes + 1)).toList();
            // One GETRANGE each: whoever may write there can't make an instance read more. No script: who only reads
            // keys may not name them in one.
            ask(redis -> {
                List<Future<Integer>> sent = new ArrayList<>();
                for (int k = 0; k < some.size(); k++) {
                    read.get(k).clear();
                    sent.add(redis.getBinaryStream(some.get(k))
                            .getAsynchronousChannel()
                            .read(read.get(k)));
                }
                return sent;
            });
            for (int k = 0; k < some.size(); k++) {
                all.add(text(some.get(k), read.get(k)));
            }
        }
        return all;
    }

    private static @Nullable String text(String key, ByteBuffer read) {
        Texts.require(
                read.hasRemaining(),
                key + " has more than " + (read.capacity() - 1)
                        + " bytes, which are not read; publish again, and less");
        return read.position() == 0
                ? null
                : StandardCharsets.UTF_8.decode(read.flip()).toString();
    }

    /** The fields of a hash. */
    Map<String, String> fields(String key) {
        return Objects.requireNonNull(
                ask(redis -> List.of(redis.<String, String>getMap(key, TEXT).readAllMapAsync()))
                        .get(0));
    }

    /** The lines of overrides and switches that are there as their hashes name them. */
    Map<String, String> lines(ControlKeys keys, List<String> hashes) {
        Map<String, String> all = new HashMap<>();
        getAll(hashes.stream().map(keys::entry).toList(), Entry.MOST_BYTES).stream()
                .filter(Objects::nonNull)
                .forEach(line -> all.put(Signer.hash(line), line));
        all.keySet().retainAll(Set.copyOf(hashes));
        return all;
    }

    /** Writes the report of an instance, or none; returns the time of Redis, in microseconds. */
    long report(List<String> keys, List<String> arguments) {
        List<String> time = run("report", keys, arguments);
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    /** Runs the script of that name, which may write. Its reply as texts. */
    List<String> run(String name, List<String> keys, List<String> arguments) {
        return Objects.requireNonNull(this.<List<String>>ask(redis -> List.of(redis.getScript(TEXT)
                        .evalAsync(
                                RScript.Mode.READ_WRITE,
                                script(name),
                                RScript.ReturnType.LIST,
                                List.copyOf(keys),
                                arguments.toArray())))
                .get(0));
    }

    private static String script(String name) {
        try (InputStream text = ControlStore.class.getResourceAsStream(name + ".lua")) {
            return new String(Objects.requireNonNull(text, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    private <T> List<T> ask(Function<RedissonClient, List<? extends Future<T>>> questions) {
        RedissonClient connected = client.get();
        if (connected == null) {
            throw new BackendException("RL-201 there is no connection to Redis yet");
        }
        List<? extends Future<T>> sent;
        try {
            sent = questions.apply(connected);
        } catch (RuntimeException failed) {
            sent = List.of(CompletableFuture.<T>failedFuture(failed));
        }
        return sent.stream()
                .map(one -> RedisBackend.answer(Access.LIBRARY, one, longest))
                .toList();
    }

    @Override
    public void close() {
        end.run();
    }
}
