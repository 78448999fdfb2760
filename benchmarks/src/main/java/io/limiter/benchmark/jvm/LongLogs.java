package io.limiter.benchmark.jvm;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** One key with a sliding log that is full: nothing more is allowed, or a permit becomes free each microsecond. */
public class LongLogs extends Case {
    @Param({"list", "zset"})
    String contender = "";

    @Param({"10", "1000", "10000"})
    int permits;

    @Param({"denied", "busy"})
    String answer = "";

    /** Makes the limiter, and fills the log. */
    @Setup
    public void start(Blackhole sink) {
        chosen = Contender.ours(
                permits + "/" + (answer.equals("busy") ? permits + "us" : "1d") + " sliding-" + contender);
        for (int i = 0; i < permits + 100; i++) {
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
    public void log(Blackhole sink) {
        chosen.decide(0, sink);
    }
}
