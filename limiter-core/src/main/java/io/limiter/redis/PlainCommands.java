package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.internal.Access;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What else the library's own modules store in Redis, by whichever client is used. Each method waits for the answers, so decisions
 * never use it; each throws {@link BackendException} with the cause in words if there is none in time, or an error. An interrupt is
 * kept. Thread-safe.
 */
public final class PlainCommands implements AutoCloseable {
    /** Questions that are sent before the first answer is waited for. */
    private static final int TOGETHER = 200;
    /** A person waits: a new client has the time of one that failed several times, for a starved machine. */
    private static final int PATIENT_ATTEMPT = 2 * RedisClients.LONGEST_FACTOR;

    /** Returns the way to Redis; null while there is none. */
    private final Supplier<@Nullable Transport> way;

    private final Duration longest;
    private final Runnable end;

    private PlainCommands(Supplier<@Nullable Transport> way, Duration longest, Runnable end) {
        this.way = way;
        this.longest = longest;
        this.end = end;
    }

    /** On the connection of a backend, with which it ends. */
    public static PlainCommands of(Access library, RedisBackend backend, Duration longest) {
        Objects.requireNonNull(library, "library");
        return new PlainCommands(() -> backend.connection.transport, longest, () -> {});
    }

    /** On a connection of its own to the Redis that the builder has, without a test of it; {@link #close} ends that. */
    public static PlainCommands open(Access library, RedisBackend.Builder redis, Duration longest) {
        Objects.requireNonNull(library, "library");
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        ScheduledExecutorService timer = OneThread.executor("limiter-redis-timer", threads);
        Transport own = redis.clients().make(timer, PATIENT_ATTEMPT);
        return new PlainCommands(() -> own, longest, () -> {
            own.close();
            timer.shutdownNow();
        });
    }

    /** The text of each key, in their order; empty if there is none. No more of it than the first so many bytes is read. */
    public List<String> texts(List<String> keys, int mostBytes) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < keys.size(); i += TOGETHER) {
            List<String> some = keys.subList(i, Math.min(keys.size(), i + TOGETHER));
            String last = Integer.toString(mostBytes - 1);
            // No script: a user that only reads keys may not name them in one.
            ask(some, key -> List.of("GETRANGE", key, "0", last))
                    .forEach(reply -> all.add(String.valueOf(reply.get(0))));
        }
        return all;
    }

    /** The fields of a hash; none if there is no hash. */
    public Map<String, String> fields(String key) {
        List<?> reply = ask(List.of(key), same -> List.of("HGETALL", key)).get(0);
        Map<String, String> fields = new HashMap<>();
        for (int i = 0; i < reply.size(); i += 2) {
            fields.put(String.valueOf(reply.get(i)), String.valueOf(reply.get(i + 1)));
        }
        return fields;
    }

    /** Runs a script, which may write. Its reply as texts. */
    public List<String> run(String script, List<String> keys, List<String> arguments) {
        List<String> words = new ArrayList<>(List.of("EVAL", script, Integer.toString(keys.size())));
        words.addAll(keys);
        words.addAll(arguments);
        return ask(keys.subList(0, 1), key -> words).get(0).stream()
                .map(String::valueOf)
                .toList();
    }

    private List<List<?>> ask(List<String> keys, Function<String, List<String>> question) {
        Transport redis = way.get();
        if (redis == null) {
            throw new BackendException("RL-201 there is no connection to Redis yet");
        }
        try {
            List<Future<? extends List<?>>> pending = new ArrayList<>();
            keys.forEach(key -> pending.add(redis.ask(key, question.apply(key))));
            List<List<?>> answers = new ArrayList<>();
            for (Future<? extends List<?>> one : pending) {
                answers.add(RedisFailure.await(one, longest));
            }
            return answers;
        } catch (RuntimeException failed) {
            throw RedisFailure.of(failed);
        }
    }

    @Override
    public void close() {
        end.run();
    }
}
