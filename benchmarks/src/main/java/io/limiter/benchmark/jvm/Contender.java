package io.limiter.benchmark.jvm;

import io.limiter.PartitionKey;
import io.limiter.benchmark.Ours;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.Blackhole;

/** What is measured. A forked JVM loads one implementation, so the interface call costs what a direct call does. */
public interface Contender extends AutoCloseable {
    /** How many keys there are. */
    int KEYS = 100_000;

    /** Each call is for a new member. */
    String MEMBERS = "10000/1d distinct";

    /** Decides for a key, and gives the answer to the sink. */
    void decide(int key, Blackhole sink);

    @Override
    default void close() {}

    /**
     * The contender of that name.
     *
     * @param name one of our algorithms, {@code two} or {@code three} limits, a peer, or a floor
     * @param allowed whether it allows every call, or after the first ones none
     * @param manyKeys whether it gets keys other than key 0; for one key the peers need no map
     * @throws IllegalArgumentException if no contender has that name
     */
    static Contender of(String name, boolean allowed, boolean manyKeys) {
        String limits = limits(name, allowed);
        if (limits != null) {
            return ours(limits, name.equals("block") ? Ours.BLOCK : "");
        }
        Contender bare = Bare.of(name, allowed, manyKeys);
        return bare != null ? bare : Peers.of(name, allowed, manyKeys);
    }

    /** Our limiter with these limits. */
    static Contender ours(String limits, String... lines) {
        Ours limiter = new Ours(
                limits,
                "limiter.in-process.max-entries = 2000000",
                "limiter.in-process.max-timestamps = 1000000000",
                String.join("\n", lines));
        boolean isInFlight = limits.contains("concurrent");
        boolean isOfMembers = limits.equals(MEMBERS) || limits.equals(Ours.STOCK);
        return new ByName() {
            @Override
            public void decide(int key, Blackhole sink) {
                sink.consume(isInFlight ? limiter.enterAndEnd(Names.OURS[key]) : limiter.decide(Names.OURS[key]));
            }

            @Override
            public void decide(String name, Blackhole sink) {
                PartitionKey key = PartitionKey.of(name);
                sink.consume(isOfMembers ? limiter.decideForNewMember(key) : limiter.decide(key));
            }

            @Override
            public void close() {
                limiter.close();
            }
        };
    }

    /** A contender for many keys. */
    interface ByName extends Contender {
        /** Decides for a key that was not made in advance. */
        void decide(String name, Blackhole sink);

        @Override
        default void decide(int key, Blackhole sink) {
            decide(Names.TEXTS[key], sink);
        }
    }

    /** The keys, made in advance. */
    final class Names {
        private static final String[] TEXTS =
                IntStream.range(0, KEYS).mapToObj(key -> "client-" + key).toArray(String[]::new);
        private static final PartitionKey[] OURS =
                Arrays.stream(TEXTS).map(PartitionKey::of).toArray(PartitionKey[]::new);

        private Names() {}
    }

    /** The limits of a contender that is ours. */
    private static @Nullable String limits(String name, boolean allowed) {
        return switch (name) {
            case "fixed", "bucket" -> limit(name.equals("fixed") ? "fixed" : "token-bucket", allowed);
            // The most permits that a log may have, in a period so short that they can't be used up.
            case "list", "zset" -> (allowed ? "10000/100us" : "100/1d") + " sliding-" + name;
            case "distinct" -> "100/1d distinct";
            case "aligned" -> "100/1month fixed aligned UTC";
            // Weighed only.
            case "members" -> MEMBERS;
            case "stock" -> Ours.STOCK;
            case "block" -> "0/1d fixed";
            case "two" -> allowed ? "1000000000/1s fixed, 1000000000000/1h fixed" : "100/1h fixed, 100/1d fixed";
            case "flight" -> allowed ? "20 concurrent, 1000000000/1s fixed" : "0 concurrent, 1000000000/1s fixed";
            case "flight-list" -> "20 concurrent, 10000/100us sliding-list";
            case "three" ->
                allowed
                        ? "1000000000/1s fixed, 1000000000000/1h fixed, 1000000000000000/1d fixed"
                        : "100/1h fixed, 100/1d fixed, 100/7d fixed";
            default -> null;
        };
    }

    private static String limit(String algorithm, boolean allowed) {
        return (allowed ? "1000000000/1s " : "100/1d ") + algorithm;
    }
}
