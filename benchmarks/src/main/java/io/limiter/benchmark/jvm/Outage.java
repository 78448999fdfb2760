package io.limiter.benchmark.jvm;

import com.sun.management.ThreadMXBean;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.benchmark.Options;
import io.limiter.benchmark.Ours;
import io.limiter.benchmark.Spread;
import io.limiter.benchmark.Table;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** What a decision costs while Redis is unreachable, beside one in this JVM: in turn, round by round, in one JVM. */
public final class Outage {
    private static final String[] DEFAULTS = {"calls", "1000000", "rounds", "11"};
    private static final PartitionKey KEY = PartitionKey.of("client");
    private static final String ONE = "1000000000/1d fixed";
    private static final String TWO = ONE + ", 1000000000/1h fixed";
    private static final int WARM_UP = 3;

    /** The answer of the last call, so that no call is left out. */
    @SuppressWarnings("UnusedVariable")
    private static volatile Object last = "";

    private Outage() {}

    /** Takes pairs such as {@code --rounds 5}, and prints two rows for each number of limits and of instances. */
    public static void run(String[] args, PrintStream out) {
        Options options = new Options(args, DEFAULTS);
        Table table = new Table(out, "cpu_ns", "cpu_ns_min", "cpu_ns_max", "bytes", "cpu_ratio", "bytes_ratio");
        for (String limits : List.of(ONE, TWO)) {
            for (String instances : List.of("1", "4")) {
                pair(table, limits, instances, options.whole("calls"), options.whole("rounds"));
            }
        }
    }

    private static void pair(Table table, String limits, String instances, int calls, int rounds) {
        // Nobody listens on that port.
        try (Ours here = new Ours(limits);
                Ours away = new Ours(
                        limits,
                        "limiter.redis.address = redis://127.0.0.1:1",
                        "limiter.redis.startup-wait = 0s",
                        "limiter.instances = " + instances)) {
            List<double[]> inProcess = new ArrayList<>();
            List<double[]> whileAway = new ArrayList<>();
            for (int round = 0; round < rounds + WARM_UP; round++) {
                inProcess.add(window(here, calls));
                whileAway.add(window(away, calls));
            }
            String workload = (limits.equals(ONE) ? "1 limit" : "2 limits") + " instances=" + instances;
            double[] base = row(table, "in-process", workload, inProcess, new double[] {0, 0});
            row(table, "redis-away", workload, whileAway, base);
        }
    }

    private static double[] row(Table table, String contender, String workload, List<double[]> all, double[] base) {
        List<double[]> warm = all.subList(Math.min(WARM_UP, all.size() - 1), all.size());
        Spread cpu = Spread.of(warm.stream().map(one -> one[0]).toList());
        double bytes = Spread.of(warm.stream().map(one -> one[1]).toList()).median();
        table.row(
                contender,
                workload,
                "1",
                cpu.median(),
                cpu.least(),
                cpu.most(),
                bytes,
                base[0] == 0 ? 1 : cpu.median() / base[0],
                base[1] == 0 ? 1 : bytes / base[1]);
        return new double[] {cpu.median(), bytes};
    }

    /** Processor time and bytes of a call of this thread. */
    private static double[] window(Ours ours, int calls) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = threads.getCurrentThreadAllocatedBytes();
        long nanos = threads.getCurrentThreadCpuTime();
        Decision answer = ours.decide(KEY);
        for (int i = 1; i < calls; i++) {
            answer = ours.decide(KEY);
        }
        double cpu = threads.getCurrentThreadCpuTime() - nanos;
        last = answer;
        return new double[] {cpu / calls, (double) (threads.getCurrentThreadAllocatedBytes() - bytes) / calls};
    }
}
