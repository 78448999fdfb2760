package io.limiter.benchmark.jvm;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.Blackhole;

/** All calls are for the same key: 1, 2 and 8 threads. */
public class OneKey extends Case {
    @Param({
        "fixed",
        "bucket",
        "list",
        "zset",
        "two",
        "three",
        "flight",
        "flight-list",
        "bucket4j",
        "bucket4j-boolean",
        "bucket4j-two",
        "guava",
        "resilience4j",
        "sentinel",
        "cas-window",
        "cas-bucket",
        "cas-gcra",
        "clock",
        "handover"
    })
    String contender = "";

    @Param({"allowed", "denied"})
    String answer = "";

    /** Makes the contender, and uses up its quota if it is to deny. */
    @Setup
    public void start(Blackhole sink) {
        chosen = Contender.of(contender, answer.equals("allowed"), false);
        for (int i = 0; i < 200; i++) {
            chosen.decide(0, sink);
        }
    }

    /** Ends it. */
    @TearDown
    public void stop() {
        chosen.close();
    }

    /** One caller. */
    @Benchmark
    @Threads(1)
    public void one(Blackhole sink) {
        chosen.decide(0, sink);
    }

    /** Two callers at once. */
    @Benchmark
    @Threads(2)
    public void two(Blackhole sink) {
        chosen.decide(0, sink);
    }

    /** Eight callers at once. */
    @Benchmark
    @Threads(8)
    public void eight(Blackhole sink) {
        chosen.decide(0, sink);
    }
}
