package io.limiter.benchmark.redis;

import io.limiter.benchmark.Child;
import io.limiter.benchmark.Options;
import io.limiter.benchmark.ProcessCpu;
import io.limiter.benchmark.Rounds;
import io.limiter.benchmark.Samples;
import java.io.IOException;
import java.io.PrintStream;
import java.util.HashSet;
import java.util.Set;

/**
 * The load on Redis, round by round over the contenders. Each window begins with an empty Redis and a new contender, warms it up
 * and measures it; a row has the spread of each figure over the rounds.
 */
public final class Load {
    private static final String[] DEFAULTS = {
        "contenders", "limiter-fixed,lettuce-fixed",
        "workloads", "keys,denied,allowed,attack",
        "callers", "1,8,64,256,async-512",
        "warmup", "5",
        "rewarm", "1",
        "rounds", "5",
        "seconds", "2",
        "deadline", "1s",
        "delay", "0",
        "masters", "1"
    };

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

    private final Options options;
    private final Server server;
    private final String address;
    private final Rounds table;
    private final Set<String> warm = new HashSet<>();
    private final Set<String> leftOut = new HashSet<>();

    private record Snapshot(long nanos, long cpuNanos, Server.Usage usage) {
        static Snapshot of(Server server) {
            return new Snapshot(System.nanoTime(), ProcessCpu.nanos(), server.usage());
        }
    }

    private Load(Options options, Server server, String address, PrintStream out) {
        this.options = options;
        this.server = server;
        this.address = address;
        this.table = new Rounds(out, FIGURES);
    }

    /** Takes pairs such as {@code --callers 64}; see {@code benchmarks/README.md}. */
    public static void run(String[] args, PrintStream out) throws IOException, InterruptedException {
        Options options = new Options(args, DEFAULTS);
        try (Server server = new Server(options.whole("masters"))) {
            if (options.number("delay") == 0) {
                new Load(options, server, server.address(), out).run();
                return;
            }
            try (Child wire = Child.start("delayed-wire", Integer.toString(server.port()), options.text("delay"))) {
                new Load(options, server, "redis://127.0.0.1:" + wire.line(), out).run();
            }
        }
    }

    private void run() throws IOException, InterruptedException {
        for (String workload : options.list("workloads")) {
            for (String callers : options.list("callers")) {
                for (int round = 0; round < options.whole("rounds"); round++) {
                    for (String contender : options.list("contenders")) {
                        measure(contender, workload, callers, round);
                    }
                }
                table.print();
            }
        }
    }

    private void measure(String contender, String workload, String callers, int round)
            throws IOException, InterruptedException {
        if (leftOut.contains(contender + callers)) {
            return;
        }
        System.err.println("round " + (round + 1) + " " + contender + " " + workload + " " + callers);
        try {
            table.add(
                    contender,
                    workload,
                    callers,
                    contender.equals("redis-benchmark")
                            ? redisBenchmark(Workload.of(workload), callers)
                            : window(contender, Workload.of(workload), callers));
        } catch (Contender.UnavailableException e) {
            leftOut.add(contender + callers);
            System.err.println(contender + " with callers " + callers + " is left out: " + e.getMessage());
        }
    }

    private double[] window(String name, Workload workload, String callers) throws InterruptedException {
        server.empty();
        try (Contender contender = Contender.of(name, new Contender.Task(address, options.text("deadline"), workload));
                Callers running = Callers.start(contender, workload, callers, null)) {
            warmUp(options.number(warm.add(name + workload + callers) ? "warmup" : "rewarm"));
            return window(running);
        }
    }

    /**
     * Waits until this JVM has used that many seconds of CPU time, or ten times as long. On a busy machine the compiler
     * waits for
     * a core as long as the callers do, so seconds of a clock would not warm up as much each time.
     */
    private static void warmUp(double seconds) throws InterruptedException {
        long end = ProcessCpu.nanos() + (long) (seconds * 1e9);
        for (int i = 0; i < seconds * 500 && ProcessCpu.nanos() < end; i++) {
            sleep(0.02);
        }
    }

    private double[] window(Callers running) throws InterruptedException {
        Samples samples = new Samples();
        Snapshot from = Snapshot.of(server);
        running.sampleInto(samples);
        sleep(options.number("seconds"));
        // On a busy machine a short window may have seen nothing yet.
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

    /** The floor of a client: figures of a program in C, and none of this JVM. */
    private double[] redisBenchmark(Workload workload, String callers) throws IOException, InterruptedException {
        server.empty();
        Server.Usage before = server.usage();
        RedisBenchmark.Result result = RedisBenchmark.run(server, workload, callers, options.number("seconds"));
        Server.Usage after = server.usage();
        double count = result.requests();
        return new double[] {
            result.perSecond(),
            result.p50Micros(),
            result.p99Micros(),
            Double.NaN,
            0,
            (after.cpuMicros() - before.cpuMicros()) / count,
            (after.commands() - before.commands()) / count,
            (after.calls() - before.calls()) / count,
            Double.NaN,
            1,
            0
        };
    }

    private static void sleep(double seconds) throws InterruptedException {
        Thread.sleep((long) (seconds * 1_000));
    }
}
