package io.limiter.benchmark.jvm;

import io.limiter.benchmark.Table;
import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs JMH with the CPU time and the bytes of each operation, and prints a row for each case. */
public final class JvmBenchmarks {
    private JvmBenchmarks() {}

    /** Takes the arguments of JMH: a pattern of names, {@code -p contender=fixed,guava}, {@code -f}, {@code -wi}. */
    public static void run(String[] args, PrintStream out) throws CommandLineOptionException, RunnerException {
        Table table = new Table(out, "wall_ns", "cpu_ns", "bytes");
        for (Row row : rows(new OptionsBuilder().parent(new CommandLineOptions(args)))) {
            Row.Name name = row.name();
            table.row(name.contender(), name.workload(), name.callers(), row.wallNanos(), row.cpuNanos(), row.bytes());
        }
    }

    /** Runs the cases once. */
    static List<Row> rows(ChainedOptionsBuilder builder) throws RunnerException {
        // JMH allows one run at a time on a machine; other work disturbs as much, and is not refused.
        System.setProperty("jmh.ignoreLock", "true");
        Options options = builder
                // On a busy machine the compiler would wait for a core, into the measured iterations.
                // A page that the JVM uses for the first time can cost more than the call that allocates in it.
                .jvmArgsAppend("-XX:-BackgroundCompilation", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch")
                .addProfiler(GCProfiler.class)
                .addProfiler(CpuProfiler.class)
                .build();
        VerboseMode mode = options.verbosity().orElse(VerboseMode.NORMAL);
        return new Runner(options, OutputFormatFactory.createFormatInstance(System.err, mode))
                .run().stream().map(JvmBenchmarks::row).toList();
    }

    private static Row row(RunResult result) {
        BenchmarkParams params = result.getParams();
        String[] name = params.getBenchmark().split("\\.", -1);
        String workload = name[name.length - 2];
        String contender = name[name.length - 1];
        String third = Integer.toString(params.getThreads());
        for (String key : params.getParamsKeys()) {
            if (key.equals("contender")) {
                contender = params.getParam(key);
            } else if (key.equals("size")) {
                third = params.getParam(key);
            } else {
                workload += " " + params.getParam(key);
            }
        }
        return new Row(
                new Row.Name(contender, workload, third),
                result.getPrimaryResult().getScore(),
                secondary(result, CpuProfiler.LABEL),
                secondary(result, "gc.alloc.rate.norm"));
    }

    private static double secondary(RunResult result, String label) {
        return Objects.requireNonNull(result.getSecondaryResults().get(label), label)
                .getScore();
    }
}
