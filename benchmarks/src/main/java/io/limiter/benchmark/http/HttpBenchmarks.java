package io.limiter.benchmark.http;

import io.limiter.benchmark.Options;
import io.limiter.benchmark.Rounds;
import io.limiter.benchmark.redis.Server;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The filter over HTTP, and the other doors. The servers of all contenders run at once and are warmed up once; then they are measured in turn, round
 * by round.
 */
public final class HttpBenchmarks {
    private static final String[] DEFAULTS = {
        "contenders", "constants,limiter",
        "workloads", "keys",
        "rules", "1",
        "callers", "64,64@5000",
        "headers", "x-ratelimit",
        "warmup", "15",
        "rounds", "5",
        "seconds", "3"
    };

    private static final String[] START_DEFAULTS = {
        "contenders", "constants,limiter",
        "workloads", "keys",
        "rules", "1",
        "callers", "64@2000",
        "headers", "x-ratelimit",
        "rounds", "5",
        "seconds", "20"
    };

    private HttpBenchmarks() {}

    /** Takes pairs such as {@code --rules 1,1000}, and prints a row for each contender and case. */
    public static void run(String[] args, PrintStream out) throws IOException {
        Options options = new Options(args, DEFAULTS);
        Rounds table = new Rounds(out, RunningServer.FIGURES);
        try (Server redis = new Server()) {
            for (String workload : options.list("workloads")) {
                for (String rules : options.list("rules")) {
                    measure(options, table, workload, rules, redis);
                }
            }
        }
    }

    private static void measure(Options options, Rounds table, String workload, String rules, Server redis)
            throws IOException {
        List<RunningServer> all = new ArrayList<>();
        try {
            for (String contender : options.list("contenders")) {
                System.err.println(contender + " " + workload + " " + rules + " rules");
                RunningServer one =
                        new RunningServer(contender, workload, rules, options.text("headers"), redis.address());
                all.add(one);
                one.warmUp(options.number("warmup"));
            }
            for (String callers : options.list("callers")) {
                for (int round = 0; round < options.whole("rounds"); round++) {
                    for (RunningServer one : all) {
                        table.add(
                                one.contender(),
                                workload + " " + rules + " rules",
                                callers,
                                one.measure(callers, options.number("seconds")));
                    }
                }
                table.print();
            }
        } finally {
            for (RunningServer one : all) {
                one.close();
            }
        }
    }

    /** The first seconds of a JVM, at a fixed rate: a row for each second, in the column that has the callers in other tables. */
    public static void start(String[] args, PrintStream out) throws IOException {
        Options options = new Options(args, START_DEFAULTS);
        Rounds table = new Rounds(out, RunningServer.FIGURES);
        String rules = options.text("rules");
        try (Server redis = new Server()) {
            for (String workload : options.list("workloads")) {
                for (int round = 0; round < options.whole("rounds"); round++) {
                    for (String contender : options.list("contenders")) {
                        try (RunningServer one = new RunningServer(
                                contender, workload, rules, options.text("headers"), redis.address())) {
                            double[][] seconds = one.seconds(options.text("callers"), options.whole("seconds"));
                            for (int i = 0; i < seconds.length; i++) {
                                table.add(contender, workload + " start", Integer.toString(i + 1), seconds[i]);
                            }
                        }
                    }
                }
            }
        }
        table.print();
    }
}
