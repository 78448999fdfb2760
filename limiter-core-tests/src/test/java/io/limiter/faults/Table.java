package io.limiter.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** All rows, as CSV with every number and as Markdown for people: {@code target/faults.csv}, {@code target/faults.md}. */
final class Table {
    private record Column(String title, Function<Row, Object> value) {}

    private static final List<Column> CSV = List.of(
            new Column("fault", row -> '"' + row.fault() + '"'),
            new Column("mode", row -> row.mode().text()),
            new Column("client", row -> row.client().name().toLowerCase(Locale.ROOT)),
            new Column("calls", Row::calls),
            new Column("exceptions", Row::exceptions),
            new Column("counted_twice", Row::countedTwice),
            new Column("missing", Row::missing),
            new Column("lost", Row::lost),
            new Column("torn", Row::torn),
            new Column("wrongly_denied", Row::wronglyDenied),
            new Column("stale", Row::stale),
            new Column("told_blocked", row -> row.blocks().told()),
            new Column("blocked_early", row -> row.blocks().early()),
            new Column("blocks_shorter", row -> row.blocks().shorter()),
            new Column("counted_late", Row::countedLate),
            new Column("by_redis_above", Row::byRedisAbove),
            new Column("by_shares", Row::byShares),
            new Column("uncounted", Row::uncounted),
            new Column("by_redis_meanwhile_percent", Row::byRedisMeanwhile),
            new Column("median_us", Row::medianMicros),
            new Column("p99_us", Row::p99Micros),
            new Column("worst_us", Row::worstMicros),
            new Column("back_ms", Row::backMillis));

    private static final List<Column> MARKDOWN = List.of(
            new Column("fault", Row::fault),
            new Column("mode", row -> row.mode().text()),
            new Column("client", row -> row.client().name().toLowerCase(Locale.ROOT)),
            new Column("calls", Row::calls),
            new Column("exceptions", Row::exceptions),
            new Column("counted twice", Row::countedTwice),
            new Column("missing", Row::missing),
            new Column("lost", row -> row.losesState() ? row.lost() : "-"),
            new Column(
                    "above a limit of " + Load.NARROW_LIMIT + ": by Redis + by shares (bounds)",
                    row -> row.byRedisAbove() + " + " + row.byShares() + " (" + row.byRedisBound() + " + "
                            + row.bySharesBound() + ")"),
            new Column("uncounted", Row::uncounted),
            new Column("by Redis meanwhile", row -> row.byRedisMeanwhile() + " %"),
            new Column("p99 / worst ms", row -> thousandths(row.p99Micros()) + " / " + thousandths(row.worstMicros())),
            new Column("back after s", row -> thousandths(row.backMillis())));

    private final List<String> csv = new ArrayList<>(List.of(csv(Column::title)));
    private final List<String> markdown =
            new ArrayList<>(List.of(markdown(Column::title), "|---".repeat(MARKDOWN.size()) + "|"));

    void add(Row row) {
        csv.add(csv(column -> column.value().apply(row)));
        String line = markdown(column -> column.value().apply(row));
        markdown.add(line);
        System.out.println(line);
    }

    void write() throws IOException {
        Files.write(Path.of("target/faults.csv"), csv);
        Files.write(Path.of("target/faults.md"), markdown);
    }

    private static String csv(Function<Column, Object> cell) {
        return CSV.stream().map(cell).map(String::valueOf).collect(Collectors.joining(","));
    }

    private static String markdown(Function<Column, Object> cell) {
        return MARKDOWN.stream().map(cell).map(String::valueOf).collect(Collectors.joining(" | ", "| ", " |"));
    }

    private static String thousandths(long number) {
        return String.format(Locale.ROOT, "%.1f", number / 1_000.0);
    }
}
