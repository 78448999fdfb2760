package io.limiter.benchmark;

import io.limiter.benchmark.http.HttpBenchmarks;
import io.limiter.benchmark.http.HttpServer;
import io.limiter.benchmark.jvm.JvmBenchmarks;
import io.limiter.benchmark.jvm.JvmRounds;
import io.limiter.benchmark.jvm.Outage;
import io.limiter.benchmark.memory.JvmMemory;
import io.limiter.benchmark.memory.RedisMemory;
import io.limiter.benchmark.plot.Plot;
import io.limiter.benchmark.redis.ColdStart;
import io.limiter.benchmark.redis.DelayedWire;
import io.limiter.benchmark.redis.Load;
import io.limiter.benchmark.redis.ScriptCost;
import io.limiter.benchmark.walk.Steps;
import io.limiter.benchmark.walk.Walks;
import java.util.Arrays;

/** The entry of the runnable build: a command and its arguments; {@code benchmarks/README.md} has all of them. */
public final class Main {
    private Main() {}

    /** Prints the table as CSV to standard output, and everything else to standard error. */
    public static void main(String[] args) throws Exception {
        String[] rest = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
        switch (args.length == 0 ? "" : args[0]) {
            case "jvm" -> JvmBenchmarks.run(rest, System.out);
            case "jvm-rounds" -> JvmRounds.run(rest, System.out);
            case "outage" -> Outage.run(rest, System.out);
            case "memory" -> JvmMemory.run(rest, System.out);
            case "redis-memory" -> RedisMemory.run(rest, System.out);
            case "redis" -> Load.run(rest, System.out);
            case "cold" -> ColdStart.run(rest, System.out);
            case "scripts" -> ScriptCost.run(rest, System.out);
            case "http" -> HttpBenchmarks.run(rest, System.out);
            case "http-start" -> HttpBenchmarks.start(rest, System.out);
            case "plot" -> Plot.run(rest);
            case "walks" -> Walks.run(rest, System.out);
            // What the other JVMs of the commands above run.
            case "memory-of" -> JvmMemory.child(rest);
            case "cold-callers" -> ColdStart.child(rest);
            case "delayed-wire" -> DelayedWire.child(rest);
            case "walk-steps" -> Steps.run(rest);
            case "http-server" -> HttpServer.child(rest);
            default -> {
                System.err.println(
                        "usage: jvm | jvm-rounds | outage | memory | redis | redis-memory | scripts | cold | http | http-start | walks | plot, and arguments: see benchmarks/README.md");
                System.exit(2);
            }
        }
        // Pools of the contenders may still have threads.
        System.exit(0);
    }
}
