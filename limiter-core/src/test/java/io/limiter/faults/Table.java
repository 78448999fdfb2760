package io.limiter.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** All rows, as CSV with every number and as Markdown for people: {@code target/faults.csv}, {@code target/faults.md}. */
final class Table {
    private static final Path CSV = Path.of("target/faults.csv");
    private static final Path MARKDOWN = Path.of("target/faults.md");

    private final List<Row> rows = new ArrayList<>();

    void add(Row row) {
        rows.add(row);
        System.out.println(markdown(row));
    }

    void write() throws IOException {
        List<String> csv = new ArrayList<>();
        csv.add(
                "fault,mode,calls,exceptions,counted_twice,missing,lost,torn,wrongly_denied,counted_late,by_redis_above,"
                        + "by_shares,uncounted,by_redis_meanwhile_percent,median_us,p99_us,worst_us,back_ms");
        List<String> markdown = new ArrayList<>();
        markdown.add("| fault | mode | calls | exceptions | counted twice | missing | lost | above a limit of "
                + Load.NARROW_LIMIT
                + ": by Redis + by shares (bounds) | uncounted | by Redis meanwhile | p99 / worst ms | back after s |");
        markdown.add("|---|---|---|---|---|---|---|---|---|---|---|---|");
        for (Row row : rows) {
            csv.add(csv(row));
            markdown.add(markdown(row));
        }
        Files.write(CSV, csv);
        Files.write(MARKDOWN, markdown);
    }

    private static String csv(Row row) {
        return String.format(
                Locale.ROOT,
                "\"%s\",%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d",
                row.fault(),
                row.mode().text(),
                row.calls(),
                row.exceptions(),
                row.countedTwice(),
                row.missing(),
                row.lost(),
                row.torn(),
                row.wronglyDenied(),
                row.countedLate(),
                row.byRedisAbove(),
                row.byShares(),
                row.uncounted(),
                row.byRedisMeanwhile(),
                row.medianMicros(),
                row.p99Micros(),
                row.worstMicros(),
                row.backMillis());
    }

    private static String markdown(Row row) {
        return String.format(
                Locale.ROOT,
                "| %s | %s | %d | %d | %d | %d | %s | %d + %d (%d + %d) | %d | %d %% | %.1f / %.1f | %.1f |",
                row.fault(),
                row.mode().text(),
                row.calls(),
                row.exceptions(),
                row.countedTwice(),
                row.missing(),
                row.losesState() ? Long.toString(row.lost()) : "-",
                row.byRedisAbove(),
                row.byShares(),
                row.byRedisBound(),
                row.bySharesBound(),
                row.uncounted(),
                row.byRedisMeanwhile(),
                row.p99Micros() / 1_000.0,
                row.worstMicros() / 1_000.0,
                row.backMillis() / 1_000.0);
    }
}
