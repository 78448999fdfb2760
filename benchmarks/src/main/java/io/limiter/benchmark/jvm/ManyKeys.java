package io.limiter.benchmark.jvm;

import io.limiter.benchmark.Draw;
import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** Calls for 100 000 existing keys, which are all allowed. */
public class ManyKeys extends Case {
    @Param({"fixed", "bucket", "list", "zset", "bucket4j-caffeine", "bucket4j", "resilience4j", "guava", "cas-gcra"})
    String contender = "";

    @Param({"uniform", "zipf"})
    String draw = "";

    private int[] keys = new int[1];

    /** Where a caller is in the list of keys. */
    @State(Scope.Thread)
    public static class Place {
        private int next = ThreadLocalRandom.current().nextInt(1 << 19);
    }

    /** Makes the contender, and all keys. */
    @Setup
    public void start(Blackhole sink) {
        chosen = Contender.of(contender, true, true);
        keys = draw.equals("zipf") ? Draw.zipf(Contender.KEYS) : Draw.uniform(Contender.KEYS);
        for (int key = 0; key < Contender.KEYS; key++) {
            chosen.decide(key, sink);
        }
    }

    /** Ends it. */
    @TearDown
    public void stop() {
        chosen.close();
    }

    /** The next key of the list. */
    @Benchmark
    public void many(Place place, Blackhole sink) {
        chosen.decide(keys[place.next++ & keys.length - 1], sink);
    }
}
