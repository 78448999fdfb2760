package io.limiter.benchmark.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One figure of a table: its rows, with the least and the most if the table has them. */
final class Results {
    private static final String HEADING = "contender,workload,callers,";

    /** A case and its value. Without a spread least and most are the value. */
    record Row(String contender, String workload, String callers, double value, double least, double most) {}

    private Results() {}

    /**
     * Reads a file of CSV. Lines that begin with # are comments, and it may have several tables.
     *
     * @throws IllegalArgumentException if no table has the figure
     */
    static List<Row> read(Path file, String figure) throws IOException {
        List<Row> rows = new ArrayList<>();
        List<String> names = List.of();
        for (String line : Files.readAllLines(file)) {
            List<String> cells = Arrays.asList(line.split(",", -1));
            if (line.startsWith(HEADING)) {
                names = cells;
            } else if (!line.isBlank() && !line.startsWith("#") && names.contains(figure)) {
                double value = Double.parseDouble(cells.get(names.indexOf(figure)));
                if (!Double.isNaN(value)) {
                    rows.add(new Row(
                            cells.get(0),
                            cells.get(1),
                            cells.get(2),
                            value,
                            cell(cells, names.indexOf(figure + "_min"), value),
                            cell(cells, names.indexOf(figure + "_max"), value)));
                }
            }
        }
        if (rows.isEmpty()) {
            throw new IllegalArgumentException(file + " has no figure " + figure);
        }
        return rows;
    }

    private static double cell(List<String> cells, int at, double otherwise) {
        return at < 0 ? otherwise : Double.parseDouble(cells.get(at));
    }
}
