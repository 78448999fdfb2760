package io.limiter.benchmark.redis;

import io.limiter.benchmark.Child;
import io.limiter.benchmark.Options;
import io.limiter.benchmark.Rounds;
import io.limiter.benchmark.Samples;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;

/**
 * The first seconds of a JVM: callers that call Redis from the moment at which the contender has started. Each round is
 * a new JVM
 * and an empty Redis.
 */
public final class ColdStart {
    private static final String[] DEFAULTS = {
        "contenders", "limiter-fixed,lettuce-fixed",
        "workload", "keys",
        "callers", "64",
        "deadline", "50ms",
        "rounds", "10",
        "seconds", "10",
        "warm", "4"
    };

    /** Of each second. {@code of_warm}: its throughput over that of the {@code warm} seconds after the last one. */
    private static final String[] FIGURES = {
        "decisions_per_s", "of_warm", "p99_us", "redis_share", "failure_answers", "unavailable", "start_ms"
    };

    private static final int COUNT = 0;
    private static final int OF_WARM = 1;
    private static final int P99 = 2;
    private static final int SHARE = 3;
    private static final int FAILED = 4;
    private static final int UNAVAILABLE = 5;
    private static final int START = 6;

    private ColdStart() {}

    /** Prints a row for each second, which is where the callers are in other tables, and one for all of them, {@code all}. */
    public static void run(String[] args, PrintStream out) throws IOException {
        Options options = new Options(args, DEFAULTS);
        Rounds table = new Rounds(out, FIGURES);
        try (Server server = new Server()) {
            for (int round = 0; round < options.whole("rounds"); round++) {
                for (String contender : options.list("contenders")) {
                    System.err.println("round " + (round + 1) + " " + contender);
                    server.empty();
                    add(table, contender, options, server.address());
                }
            }
        }
        table.print();
    }

    private static void add(Rounds table, String contender, Options options, String address) throws IOException {
        int seconds = options.whole("seconds");
        int warm = options.whole("warm");
        String workload = options.text("workload");
        double[][] all = new double[seconds + warm][];
        try (Child child = Child.start(
                "cold-callers",
                contender,
                address,
                options.text("deadline"),
                workload,
                options.text("callers"),
                Integer.toString(seconds + warm))) {
            for (int i = 0; i < all.length; i++) {
                all[i] = Arrays.stream(child.line().split(" ", -1))
                        .mapToDouble(Double::parseDouble)
                        .toArray();
            }
        }
        double warmRate = Arrays.stream(all, seconds, all.length)
                .mapToDouble(row -> row[COUNT])
                .average()
                .orElse(Double.NaN);
        double[] sum = new double[FIGURES.length];
        for (int i = 0; i < seconds; i++) {
            double[] row = all[i];
            sum[COUNT] += row[COUNT] / seconds;
            sum[P99] = Math.max(sum[P99], row[P99]);
            sum[SHARE] += row[SHARE];
            sum[FAILED] += row[FAILED];
            sum[UNAVAILABLE] += row[UNAVAILABLE];
            sum[START] = row[START];
            row[SHARE] /= Math.max(1, row[COUNT]);
            row[OF_WARM] = row[COUNT] / warmRate;
            table.add(contender, workload, Integer.toString(i + 1), row);
        }
        sum[SHARE] /= Math.max(1, sum[COUNT] * seconds);
        sum[OF_WARM] = sum[COUNT] / warmRate;
        System.err.println(contender + " " + Arrays.toString(sum));
        table.add(contender, workload, "all", sum);
    }

    /**
     * Starts a contender and its callers, and prints the figures of each second.
     *
     * @param args contender, address, deadline, workload, callers, seconds
     */
    public static void child(String[] args) throws InterruptedException {
        Workload workload = Workload.of(args[3]);
        Samples[] samples = new Samples[Integer.parseInt(args[5])];
        Arrays.setAll(samples, second -> new Samples());
        long[] unavailable = new long[samples.length + 1];
        long beforeNanos = System.nanoTime();
        try (Contender contender = Contender.of(args[0], new Contender.Task(args[1], args[2], workload));
                Callers callers = Callers.start(contender, workload, args[4], samples[0])) {
            long startNanos = System.nanoTime();
            for (int i = 1; i <= samples.length; i++) {
                long leftNanos = startNanos + i * 1_000_000_000L - System.nanoTime();
                Thread.sleep(Math.max(0, leftNanos / 1_000_000));
                callers.sampleInto(i == samples.length ? null : samples[i]);
                unavailable[i] = contender.unavailable();
            }
            for (int i = 0; i < samples.length; i++) {
                System.out.printf(
                        "%d 0 %.0f %d %d %d %d%n",
                        samples[i].count(),
                        samples[i].micros(0.99),
                        samples[i].count(Contender.BY_REDIS),
                        samples[i].count(Contender.FAILED),
                        unavailable[i + 1] - unavailable[i],
                        (startNanos - beforeNanos) / 1_000_000);
            }
        }
    }
}
