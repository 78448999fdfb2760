package io.limiter.benchmark.redis;

import io.limiter.benchmark.ProcessCpu;
import io.limiter.benchmark.Samples;
import io.limiter.benchmark.Table;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A closed loop: each caller asks, waits for the answer, and asks again. Each case begins with an empty Redis and a new
 * contender, warms it up, and then measures some windows; a row has the median of each figure over the windows.
 */
public final class Load {
    private static final Map<String, String> DEFAULTS = Map.of(
            "contenders", "limiter-fixed,lettuce-fixed",
            "workloads", "keys,denied,allowed,attack",
            "callers", "1,8,64,async-512",
            "warmup", "5",
            "windows", "3",
            "seconds", "2",
            "deadline", "1s");

    private static final String[] FIGURES = {
        "decisions_per_s",
        "p50_us",
        "p99_us",
        "p999_us",
        "jvm_cpu_us",
        "redis_cpu_us",
        "redis_commands",
        "redis_calls",
        "allowed_share",
        "redis_share",
        "failure_answers"
    };

    /** The fewest calls that make a window. */
    private static final int FEWEST = 200;

    private record Snapshot(long nanos, long cpuNanos, Server.Usage usage) {
        static Snapshot of(Server server) {
            return new Snapshot(System.nanoTime(), ProcessCpu.nanos(), server.usage());
        }
    }

    private Load() {}

    /** Takes pairs such as {@code --callers 64}; see {@code benchmarks/README.md}. */
    public static void run(String[] args, PrintStream out) throws IOException, InterruptedException {
        Map<String, String> options = new HashMap<>(DEFAULTS);
        for (int i = 0; i < args.length; i += 2) {
            String name = args[i].replaceFirst("^--", "");
            if (!DEFAULTS.containsKey(name) || i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + ": write --" + String.join(" .. --", DEFAULTS.keySet()));
            }
            options.put(name, args[i + 1]);
        }
        Table table = new Table(out, FIGURES);
        try (Server server = new Server()) {
            for (String contender : list(options, "contenders")) {
                for (String workload : list(options, "workloads")) {
                    for (String callers : list(options, "callers")) {
                        System.err.println(contender + " " + workload + " " + callers);
                        table.row(contender, workload, callers, figures(server, options, contender, workload, callers));
                    }
                }
            }
        }
    }

    private static double[] figures(
            Server server, Map<String, String> options, String name, String workloadName, String callers)
            throws InterruptedException {
        Workload workload = Workload.of(workloadName);
        server.empty();
        try (Contender contender = Contender.of(
                name, server.address(), value(options, "deadline"), workload.permits, workload.periodMicros)) {
            Callers running = callers.startsWith("async-")
                    ? Callers.async(contender, workload.draw(), Integer.parseInt(callers.substring(6)))
                    : Callers.blocking(contender, workload.draw(), Integer.parseInt(callers));
            double[][] windows = new double[Integer.parseInt(value(options, "windows"))][];
            try (running) {
                warmUp(Double.parseDouble(value(options, "warmup")));
                for (int i = 0; i < windows.length; i++) {
                    windows[i] = window(server, running, Double.parseDouble(value(options, "seconds")));
                }
            }
            return medians(windows);
        }
    }

    /**
     * Waits until this JVM has used so many seconds of CPU time, or ten times as long. On a busy machine the compiler waits for
     * a core as long as the callers do, so seconds of a clock would not warm up as much each time.
     */
    private static void warmUp(double seconds) throws InterruptedException {
        long end = ProcessCpu.nanos() + (long) (seconds * 1e9);
        for (int i = 0; i < seconds * 500 && ProcessCpu.nanos() < end; i++) {
            sleep(0.02);
        }
    }

    private static double[] window(Server server, Callers running, double seconds) throws InterruptedException {
        Samples samples = new Samples();
        Snapshot from = Snapshot.of(server);
        running.sampleInto(samples);
        sleep(seconds);
        // On a machine that is busy with something else a short window may have seen nothing yet.
        for (int i = 0; i < 1_000 && samples.count() < FEWEST; i++) {
            sleep(0.02);
        }
        running.sampleInto(null);
        Snapshot to = Snapshot.of(server);
        double count = Math.max(1, samples.count());
        return new double[] {
            samples.count() * 1e9 / (to.nanos - from.nanos),
            samples.micros(0.5),
            samples.micros(0.99),
            samples.micros(0.999),
            (to.cpuNanos - from.cpuNanos) / 1e3 / count,
            (to.usage.cpuMicros() - from.usage.cpuMicros()) / count,
            (to.usage.commands() - from.usage.commands()) / count,
            (to.usage.calls() - from.usage.calls()) / count,
            samples.count(Contender.ALLOWED) / count,
            samples.count(Contender.BY_REDIS) / count,
            samples.count(Contender.FAILED)
        };
    }

    private static double[] medians(double[][] windows) {
        double[] medians = new double[FIGURES.length];
        for (int figure = 0; figure < medians.length; figure++) {
            List<Double> values = new ArrayList<>();
            for (double[] window : windows) {
                values.add(window[figure]);
            }
            values.sort(null);
            medians[figure] = values.get(values.size() / 2);
        }
        return medians;
    }

    private static void sleep(double seconds) throws InterruptedException {
        Thread.sleep((long) (seconds * 1_000));
    }

    private static List<String> list(Map<String, String> options, String name) {
        return Arrays.asList(value(options, name).split(","));
    }

    private static String value(Map<String, String> options, String name) {
        return Objects.requireNonNull(options.get(name));
    }
}
