package io.limiter.benchmark.jvm;

import com.google.common.util.concurrent.RateLimiter;
import io.github.bucket4j.Bucket;
import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.openjdk.jmh.infra.Blackhole;

/** What is measured. A forked JVM loads one implementation, so the interface call costs what a direct call does. */
interface Contender extends AutoCloseable {
    /** How many keys there are. */
    int KEYS = 100_000;

    /** Decides for a key, and gives the answer to the sink. */
    void decide(int key, Blackhole sink);

    @Override
    default void close() {}

    /**
     * The contender of that name.
     *
     * @param name one of our algorithms, {@code two} or {@code three} limits, or a peer
     * @param allowed whether it allows every call, or after the first ones none
     * @param manyKeys whether it is asked for others than key 0; for one the peers need no map
     */
    static Contender of(String name, boolean allowed, boolean manyKeys) {
        return switch (name) {
            case "clock" -> (key, sink) -> sink.consume(System.nanoTime());
            // Bucket4j and Guava decide for one key; a map of them is what their users write.
            case "bucket4j" ->
                peer(manyKeys, () -> bucket(allowed), (one, sink) -> sink.consume(one.tryConsumeAndReturnRemaining(1)));
            case "bucket4j-boolean" ->
                peer(manyKeys, () -> bucket(allowed), (one, sink) -> sink.consume(one.tryConsume(1)));
            case "guava" ->
                peer(
                        manyKeys,
                        () -> RateLimiter.create(allowed ? 1e9 : 1e-5),
                        (one, sink) -> sink.consume(one.tryAcquire()));
            default -> ours(allowed ? allowing(name) : denying(name));
        };
    }

    /** The keys, made beforehand. */
    final class Names {
        private static final String[] TEXTS =
                IntStream.range(0, KEYS).mapToObj(key -> "client-" + key).toArray(String[]::new);
        private static final PartitionKey[] OURS =
                Arrays.stream(TEXTS).map(PartitionKey::of).toArray(PartitionKey[]::new);

        private Names() {}
    }

    private static String allowing(String name) {
        return switch (name) {
            case "fixed" -> "1000000000/1s fixed";
            case "bucket" -> "1000000000/1s token-bucket";
            // The most permits that a log may have, in a period so short that nobody can use them up.
            case "list" -> "10000/100us sliding-list";
            case "zset" -> "10000/100us sliding-zset";
            case "two" -> "1000000000/1s fixed, 1000000000000/1h fixed";
            case "three" -> "1000000000/1s fixed, 1000000000000/1h fixed, 1000000000000000/1d fixed";
            default -> throw new IllegalArgumentException("no contender is called " + name);
        };
    }

    private static String denying(String name) {
        return switch (name) {
            case "fixed" -> "100/1d fixed";
            case "bucket" -> "100/1d token-bucket";
            case "list" -> "100/1d sliding-list";
            case "zset" -> "100/1d sliding-zset";
            case "two" -> "100/1h fixed, 100/1d fixed";
            case "three" -> "100/1h fixed, 100/1d fixed, 100/7d fixed";
            default -> throw new IllegalArgumentException("no contender is called " + name);
        };
    }

    private static Contender ours(String limits) {
        Ours limiter = new Ours(limits, "limiter.in-process.max-entries = 1000000");
        return new Contender() {
            @Override
            public void decide(int key, Blackhole sink) {
                sink.consume(limiter.decide(Names.OURS[key]));
            }

            @Override
            public void close() {
                limiter.close();
            }
        };
    }

    private static Bucket bucket(boolean allowed) {
        long permits = allowed ? 1_000_000_000 : 100;
        Duration period = allowed ? Duration.ofSeconds(1) : Duration.ofDays(1);
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(permits).refillGreedy(permits, period))
                .build();
    }

    private static <T> Contender peer(boolean manyKeys, Supplier<T> maker, BiConsumer<T, Blackhole> call) {
        if (!manyKeys) {
            T one = maker.get();
            return (key, sink) -> call.accept(one, sink);
        }
        Map<String, T> all = new ConcurrentHashMap<>();
        Function<String, T> make = name -> maker.get();
        return (key, sink) -> call.accept(all.computeIfAbsent(Names.TEXTS[key], make), sink);
    }
}
