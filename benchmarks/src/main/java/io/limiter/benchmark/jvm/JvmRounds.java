package io.limiter.benchmark.jvm;

import io.limiter.benchmark.Spread;
import io.limiter.benchmark.Table;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * The same cases several times, a fork of each in every round, so that contenders are measured in turn: JMH itself runs all
 * forks of a case one after the other. The contenders that {@code -p contender=...} names change their order with each round.
 */
public final class JvmRounds {
    private static final String CONTENDER = "contender";

    private JvmRounds() {}

    /**
     * Prints a row for each case: the spread of its figures, and of its CPU time over that of the base in the same round.
     *
     * @param args {@code -n} rounds and {@code --base} contender, which may be missing; the others are those of JMH
     */
    public static void run(String[] args, PrintStream out) throws CommandLineOptionException, RunnerException {
        List<String> rest = new ArrayList<>(List.of(args));
        int rounds = Integer.parseInt(option(rest, "-n", "5"));
        String base = option(rest, "--base", "");
        CommandLineOptions given = new CommandLineOptions(rest.toArray(String[]::new));
        Map<Row.Name, List<Row>> cases = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            ChainedOptionsBuilder options = new OptionsBuilder().parent(given);
            if (!given.getForkCount().hasValue()) {
                options.forks(1);
            }
            if (given.getParameter(CONTENDER).hasValue()) {
                List<String> names =
                        new ArrayList<>(given.getParameter(CONTENDER).get());
                if (round % 2 == 1) {
                    Collections.reverse(names);
                }
                options.param(CONTENDER, names.toArray(String[]::new));
            }
            for (Row row : JvmBenchmarks.rows(options)) {
                System.err.println("round " + (round + 1) + ": " + row);
                cases.computeIfAbsent(row.name(), name -> new ArrayList<>()).add(row);
            }
        }
        Table table = new Table(
                out,
                "wall_ns",
                "wall_ns_min",
                "wall_ns_max",
                "cpu_ns",
                "cpu_ns_min",
                "cpu_ns_max",
                "bytes",
                "ratio",
                "ratio_min",
                "ratio_max");
        cases.forEach((name, all) -> {
            Spread wall = Spread.of(all.stream().map(Row::wallNanos).toList());
            Spread cpu = Spread.of(all.stream().map(Row::cpuNanos).toList());
            Spread bytes = Spread.of(all.stream().map(Row::bytes).toList());
            Spread ratio =
                    ratio(all, Optional.ofNullable(cases.get(name.of(base))).orElse(List.of()));
            table.row(
                    name.contender(),
                    name.workload(),
                    name.callers(),
                    wall.median(),
                    wall.least(),
                    wall.most(),
                    cpu.median(),
                    cpu.least(),
                    cpu.most(),
                    bytes.median(),
                    ratio.median(),
                    ratio.least(),
                    ratio.most());
        });
    }

    private static Spread ratio(List<Row> all, List<Row> base) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(all.size(), base.size()); i++) {
            ratios.add(all.get(i).cpuNanos() / base.get(i).cpuNanos());
        }
        return Spread.of(ratios);
    }

    /** Takes an option and its value out of the arguments. */
    private static String option(List<String> args, String name, String otherwise) {
        int at = args.indexOf(name);
        if (at < 0) {
            return otherwise;
        }
        args.remove(at);
        return Objects.requireNonNull(args.remove(at));
    }
}
