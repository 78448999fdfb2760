package io.limiter.benchmark.jvm;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Each call is for a new key. The names of the keys are made in advance. */
@BenchmarkMode(Mode.SingleShotTime)
@Warmup(iterations = 10)
@Measurement(iterations = 10)
public class NewKeys extends Case {
    @Param({"fixed", "bucket", "list", "zset", "bucket4j-caffeine", "bucket4j", "resilience4j", "guava", "cas-gcra"})
    String contender = "";

    /** An empty one each time. */
    @Setup(Level.Iteration)
    public void start() {
        chosen = Contender.of(contender, true, true);
    }

    /** Ends it. */
    @TearDown(Level.Iteration)
    public void stop() {
        chosen.close();
    }

    /** All keys, once each. */
    @Benchmark
    @OperationsPerInvocation(Contender.KEYS)
    public void created(Blackhole sink) {
        for (int key = 0; key < Contender.KEYS; key++) {
            chosen.decide(key, sink);
        }
    }
}
