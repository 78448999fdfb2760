package io.limiter.benchmark.plot;

import java.util.List;
import java.util.Locale;

/** The elements that the pictures need. Not thread-safe. */
final class Svg {
    private static final List<String> COLOURS =
            List.of("#2563eb", "#d97706", "#059669", "#7c3aed", "#dc2626", "#0891b2", "#65a30d", "#be185d", "#57534e");
    private static final String GRID = "#d4d4d8";
    private static final String INK = "#27272a";

    private final StringBuilder text = new StringBuilder();

    /** The color of the i-th contender. */
    static String color(int i) {
        return COLOURS.get(i % COLOURS.size());
    }

    Svg bar(double x, double y, double width, double height, String color) {
        return add(
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", x, y, width, height, color);
    }

    /** A line of the grid. */
    Svg grid(double x1, double y1, double x2, double y2) {
        return line(x1, y1, x2, y2, GRID);
    }

    /** A line that shows a spread. */
    Svg spread(double x1, double y1, double x2, double y2) {
        return line(x1, y1, x2, y2, INK);
    }

    private Svg line(double x1, double y1, double x2, double y2, String color) {
        return add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", x1, y1, x2, y2, color);
    }

    /** A curve through points: {@code x,y x,y}. */
    Svg curve(String points, String color) {
        return add("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", points, color);
    }

    /** @param anchor {@code start}, {@code middle} or {@code end} of the text is at x */
    Svg label(double x, double y, String anchor, String label) {
        return add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, escaped(label));
    }

    Svg heading(double x, double y, String label) {
        return add("<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">%s</text>", x, y, escaped(label));
    }

    String document(double width, double height) {
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\""
                                + " font-size=\"12\" fill=\"%s\">%n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>%n",
                        width,
                        height,
                        INK)
                + text
                + "</svg>\n";
    }

    /** A number with three significant digits. */
    static String number(double value) {
        if (value >= 1e4) {
            return value >= 1e6 ? digits(value / 1e6) + "M" : digits(value / 1e3) + "k";
        }
        return digits(value);
    }

    private static String digits(double value) {
        return value == Math.rint(value) || value >= 100
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.2f", value);
    }

    private Svg add(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
        return this;
    }

    private static String escaped(String label) {
        return label.replace("&", "&amp;").replace("<", "&lt;");
    }
}
