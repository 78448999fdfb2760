package io.limiter.benchmark;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A table whose figures are measured in several rounds: the median of each, then for each the least and the most. */
public final class Rounds {
    private record Case(String contender, String workload, String callers) {}

    private final Table table;
    private final int figures;
    private final Map<Case, List<double[]>> rounds = new LinkedHashMap<>();

    /** Prints the heading. */
    public Rounds(PrintStream out, String... figures) {
        this.figures = figures.length;
        this.table = new Table(
                out,
                Stream.concat(
                                Arrays.stream(figures),
                                Arrays.stream(figures).flatMap(name -> Stream.of(name + "_min", name + "_max")))
                        .toArray(String[]::new));
    }

    /** Keeps what one round measured. */
    public void add(String contender, String workload, String callers, double... measured) {
        rounds.computeIfAbsent(new Case(contender, workload, callers), name -> new ArrayList<>())
                .add(measured);
    }

    /** Prints a row for each case that has been added since it last did so. */
    public void print() {
        rounds.forEach((name, all) -> {
            Spread[] spreads = IntStream.range(0, figures)
                    .mapToObj(i -> Spread.of(all.stream().map(round -> round[i]).toList()))
                    .toArray(Spread[]::new);
            double[] medians =
                    Arrays.stream(spreads).mapToDouble(Spread::median).toArray();
            double[] ends = Arrays.stream(spreads)
                    .flatMapToDouble(spread -> DoubleStream.of(spread.least(), spread.most()))
                    .toArray();
            double[] row = Arrays.copyOf(medians, medians.length + ends.length);
            System.arraycopy(ends, 0, row, medians.length, ends.length);
            table.row(name.contender, name.workload, name.callers, row);
        });
        rounds.clear();
    }
}
