package io.limiter.benchmark;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Rows of CSV: three columns that name the case, then its figures. */
public final class Table {
    private static final String CASE = "contender,workload,callers";

    private final PrintStream out;

    /** Prints the heading. */
    public Table(PrintStream out, String... figures) {
        this.out = out;
        out.println(CASE + "," + String.join(",", figures));
    }

    /** Prints a row. */
    public void row(String contender, String workload, String callers, double... figures) {
        out.println(contender + "," + workload + "," + callers + ","
                + Arrays.stream(figures).mapToObj(Table::shown).collect(Collectors.joining(",")));
        out.flush();
    }

    private static String shown(double figure) {
        String format = Math.abs(figure) >= 1000 ? "%.0f" : Math.abs(figure) >= 10 ? "%.1f" : "%.3f";
        return String.format(Locale.ROOT, format, figure);
    }
}
