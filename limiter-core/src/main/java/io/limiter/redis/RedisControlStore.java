package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.internal.control.ControlStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.codec.StringCodec;

/** What is published, in Redis, by plain commands of Redisson's public API. Never used by a decision. Thread-safe. */
public final class RedisControlStore implements ControlStore {
    private static final long FOLLOWS_MILLIS = 1_000;
    /** A person waits longer than a thread that looks again at once: on a starved machine an answer takes seconds. */
    private static final int PUBLISHES_SECONDS = 5;

    /** Of a command line: attempts to connect, each of which takes a few seconds at most. */
    private static final int CONNECTS = 4;

    private static final StringCodec TEXT = StringCodec.INSTANCE;

    private final Supplier<@Nullable RedissonClient> client;
    private final long longestMillis;
    private final int connects;
    private final Runnable end;

    private RedisControlStore(
            Supplier<@Nullable RedissonClient> client, long longestMillis, int connects, Runnable end) {
        this.client = client;
        this.longestMillis = longestMillis;
        this.connects = connects;
        this.end = end;
    }

    /** For an instance that follows: on the client of a backend, with which it ends. */
    public static RedisControlStore of(RedisBackend backend) {
        return new RedisControlStore(
                () -> backend.connection.transport instanceof RedissonTransport to ? to.client : null,
                FOLLOWS_MILLIS,
                1,
                () -> {});
    }

    /** The same for who publishes: it waits for an answer longer. */
    public RedisControlStore forPublishers() {
        return new RedisControlStore(client, PUBLISHES_SECONDS * 1_000L, connects, end);
    }

    /**
     * With a small client of its own, which {@link #close} ends.
     *
     * @param address {@code redis://host:port}, or {@code rediss://}
     * @param username null for Redis' default user
     * @param password null for none
     */
    public static RedisControlStore open(String address, @Nullable String username, @Nullable String password) {
        RedisClients clients = RedisClients.single(address);
        return open(password == null ? clients : clients.withLogin(username, password));
    }

    /** The same from Redisson's YAML, for clusters and sentinels. */
    public static RedisControlStore openYaml(String yaml) {
        return open(RedisClients.ofYaml(yaml));
    }

    private static RedisControlStore open(RedisClients clients) {
        RedissonClient own =
                Redisson.create(clients.config().apply(PUBLISHES_SECONDS).setLazyInitialization(true));
        Runnable end = () -> own.shutdown(0, 2, TimeUnit.SECONDS);
        return new RedisControlStore(() -> own, FOLLOWS_MILLIS, CONNECTS, end).forPublishers();
    }

    @Override
    public @Nullable String get(String key, int mostBytes) {
        ByteBuffer bytes = ByteBuffer.allocate(mostBytes + 1);
        // One GETRANGE: whoever may write there can't make an instance read more.
        ask(redis -> redis.getBinaryStream(key).getAsynchronousChannel().read(bytes));
        if (!bytes.hasRemaining()) {
            throw new IllegalArgumentException("RL-503 " + key + " has more than " + mostBytes
                    + " bytes, which are not read; publish again, and less");
        }
        return bytes.position() == 0 ? null : new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }

    @Override
    public List<String> above(String key, long score, int most) {
        return new ArrayList<>(ask(redis -> redis.<String>getScoredSortedSet(key, TEXT)
                .valueRangeAsync((double) score, false, Double.POSITIVE_INFINITY, true, 0, most)));
    }

    @Override
    public Map<String, String> fields(String key) {
        return ask(redis -> redis.<String, String>getMap(key, TEXT).readAllMapAsync());
    }

    @Override
    public List<String> log(String key, int most) {
        return ask(redis -> redis.<String>getList(key, TEXT).rangeAsync(0, most - 1));
    }

    @Override
    public List<String> run(String name, List<String> keys, List<String> arguments) {
        return ask(redis -> redis.getScript(TEXT)
                .evalAsync(
                        RScript.Mode.READ_WRITE,
                        Script.resource("control_" + name),
                        RScript.ReturnType.LIST,
                        List.copyOf(keys),
                        arguments.toArray()));
    }

    @Override
    public boolean mayWrite(String key, String unused) {
        // Each without effect: the first two because the key does not exist, the third because it is no hash, or has no
        // such field.
        return isPermitted(redis -> redis.getBucket(unused, TEXT).setIfExistsAsync(""))
                || isPermitted(redis -> redis.getBucket(unused, TEXT).deleteAsync())
                || isPermitted(redis -> redis.getMap(key, TEXT).fastRemoveAsync(unused));
    }

    private boolean isPermitted(Function<RedissonClient, Future<?>> question) {
        try {
            ask(question);
            return true;
        } catch (BackendException failed) {
            if (failed.kind() != BackendException.Kind.FAULT) {
                throw failed;
            }
            return failed.getCause() == null || !RedisFailure.hasCode(failed.getCause(), "NOPERM");
        }
    }

    /** Again only where there was no connection, so that nothing was sent. */
    private <T extends @Nullable Object> T ask(Function<RedissonClient, ? extends Future<? extends T>> question) {
        for (int i = 1; ; i++) {
            try {
                return askOnce(question);
            } catch (BackendException failed) {
                if (i >= connects
                        || !(failed.getCause() instanceof ExecutionException sent
                                && sent.getCause() instanceof RedisConnectionException)) {
                    throw failed;
                }
            }
        }
    }

    private <T extends @Nullable Object> T askOnce(Function<RedissonClient, ? extends Future<? extends T>> question) {
        RedissonClient connected = client.get();
        if (connected == null) {
            throw new BackendException("RL-201 there is no connection to Redis yet");
        }
        try {
            return question.apply(connected).get(longestMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw RedisFailure.closed();
        } catch (ExecutionException | TimeoutException | RuntimeException failed) {
            throw RedisFailure.of(failed);
        }
    }

    @Override
    public void close() {
        end.run();
    }
}
