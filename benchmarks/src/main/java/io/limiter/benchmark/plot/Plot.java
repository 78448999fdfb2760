package io.limiter.benchmark.plot;

import io.limiter.benchmark.Options;
import io.limiter.benchmark.plot.Results.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * A picture of one figure of a table. Bars: a group for each workload and number of callers, a bar for each contender, its median
 * and over it a line from the least to the most. Or a curve for each contender over the third column, such as the
 * seconds after startup.
 */
public final class Plot {
    private static final String[] DEFAULTS = {
        "figure", "decisions_per_s", "kind", "bars", "workloads", "", "callers", "", "contenders", ""
    };

    private static final double WIDTH = 860;
    private static final double LEFT = 210;
    private static final double RIGHT = 90;
    private static final double TOP = 34;
    private static final double BAR = 18;
    private static final double GROUP = 30;
    private static final double HEIGHT = 420;
    /** The position of the axis of curves. */
    private static final double AXIS = 70;

    private Plot() {}

    /**
     * Writes the picture.
     *
     * @param args the table, the picture, and pairs such as {@code --figure p99_us --workloads keys,denied}
     */
    public static void run(String[] args) throws IOException {
        Options options = new Options(List.of(args).subList(2, args.length).toArray(String[]::new), DEFAULTS);
        List<Row> rows = Results.read(Path.of(args[0]), options.text("figure")).stream()
                .filter(row -> has(options.list("workloads"), row.workload()))
                .filter(row -> has(options.list("callers"), row.callers()))
                .filter(row -> has(options.list("contenders"), row.contender()))
                .toList();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("no row of " + args[0] + " is meant");
        }
        String picture = options.text("kind").equals("bars")
                ? bars(options.text("figure"), rows)
                : curves(options.text("figure"), rows);
        Files.writeString(Path.of(args[1]), picture);
    }

    private static boolean has(List<String> chosen, String name) {
        return chosen.isEmpty() || chosen.contains(name);
    }

    private static Map<String, List<Row>> grouped(List<Row> rows, Function<Row, String> by) {
        Map<String, List<Row>> groups = new LinkedHashMap<>();
        rows.forEach(row ->
                groups.computeIfAbsent(by.apply(row), name -> new ArrayList<>()).add(row));
        return groups;
    }

    private static double most(List<Row> rows) {
        return rows.stream().mapToDouble(Row::most).max().orElse(1);
    }

    static String bars(String figure, List<Row> rows) {
        Svg svg = new Svg().heading(12, 20, figure);
        List<String> contenders = List.copyOf(grouped(rows, Row::contender).keySet());
        double y = TOP;
        for (Map.Entry<String, List<Row>> group : grouped(rows, row -> row.workload() + ", callers: " + row.callers())
                .entrySet()) {
            // Each group has a scale of its own: its contenders are compared, not the groups.
            double scale = (WIDTH - LEFT - RIGHT) / most(group.getValue());
            svg.heading(12, y + 14, group.getKey());
            y += 22;
            for (Row row : group.getValue()) {
                double middle = y + BAR / 2;
                svg.label(LEFT - 8, middle + 4, "end", row.contender())
                        .bar(LEFT, y + 2, row.value() * scale, BAR - 4, Svg.color(contenders.indexOf(row.contender())));
                if (row.most() > row.least()) {
                    svg.spread(LEFT + row.least() * scale, middle, LEFT + row.most() * scale, middle);
                }
                svg.label(LEFT + row.most() * scale + 6, middle + 4, "start", Svg.number(row.value()));
                y += BAR;
            }
            y += GROUP - BAR;
        }
        return svg.document(WIDTH, y);
    }

    static String curves(String figure, List<Row> rows) {
        Svg svg = new Svg().heading(12, 20, figure);
        double bottom = HEIGHT - 40;
        double width = WIDTH - AXIS - 40;
        Across across = Across.of(rows);
        double high = Math.max(most(rows), Double.MIN_NORMAL);
        for (double value = 0; value <= high; value += step(high)) {
            double y = bottom - (bottom - TOP) * value / high;
            svg.grid(AXIS, y, AXIS + width, y).label(AXIS - 8, y + 4, "end", Svg.number(value));
        }
        for (double value : across.marks()) {
            svg.label(AXIS + width * across.share(value), bottom + 20, "middle", Svg.number(value));
        }
        int number = 0;
        for (Map.Entry<String, List<Row>> curve : grouped(rows, Row::contender).entrySet()) {
            String points = curve.getValue().stream()
                    .map(row -> String.format(
                            Locale.ROOT,
                            "%.1f,%.1f",
                            AXIS + width * across.share(Double.parseDouble(row.callers())),
                            bottom - (bottom - TOP) * row.value() / high))
                    .collect(Collectors.joining(" "));
            double at = LEFT + number * 150;
            svg.curve(points, Svg.color(number))
                    .bar(at, 10, 10, 10, Svg.color(number))
                    .label(at + 14, 20, "start", curve.getKey());
            number++;
        }
        return svg.document(WIDTH, HEIGHT);
    }

    /** The axis of the third column: from 0, or in powers of ten from 1 where it reaches 100. */
    private record Across(double most) {
        static Across of(List<Row> rows) {
            return new Across(rows.stream()
                    .mapToDouble(row -> Double.parseDouble(row.callers()))
                    .max()
                    .orElse(1));
        }

        private boolean isOfPowers() {
            return most >= 100;
        }

        double share(double value) {
            return isOfPowers() ? Math.log(value) / Math.log(most) : value / most;
        }

        double[] marks() {
            return isOfPowers()
                    ? DoubleStream.iterate(1, value -> value <= most, value -> value * 10)
                            .toArray()
                    : DoubleStream.iterate(0, value -> value <= most, value -> value + step(most))
                            .toArray();
        }
    }

    /** Of 1, 2 and 5 with zeros the one that makes 3 to 7 steps. */
    private static double step(double most) {
        double ten = Math.pow(10, Math.floor(Math.log10(most)));
        double times = most / ten;
        return times >= 7 ? 2 * ten : times >= 3 ? ten : times >= 1.4 ? ten / 2 : ten / 5;
    }
}
