package io.limiter.benchmark;

import io.limiter.benchmark.jvm.JvmBenchmarks;
import io.limiter.benchmark.redis.Load;
import io.limiter.benchmark.redis.ScriptCost;
import java.util.Arrays;

/** The entry of the runnable build: {@code jvm} with arguments of JMH, {@code redis} with those of {@link Load}, or {@code scripts}. */
public final class Main {
    private Main() {}

    /** Prints the table as CSV to the standard output, and everything else to the other one. */
    public static void main(String[] args) throws Exception {
        String[] rest = args.length == 0 ? args : Arrays.copyOfRange(args, 1, args.length);
        switch (args.length == 0 ? "" : args[0]) {
            case "jvm" -> JvmBenchmarks.run(rest, System.out);
            case "redis" -> Load.run(rest, System.out);
            case "scripts" -> ScriptCost.run(rest, System.out);
            default -> {
                System.err.println(
                        "usage: jvm <arguments of JMH> | redis [--contenders ...] [--workloads ...] ... | scripts [rounds] [calls] [algorithms]");
                System.exit(2);
            }
        }
        // Pools of the contenders may still have threads.
        System.exit(0);
    }
}
