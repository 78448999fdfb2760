package io.limiter.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Collects what is wrong, to tell it all at once. */
final class Problems {
    private static final int LONGEST_VALUE = 120;
    private static final Pattern SECRET = Pattern.compile("(?i)pas|pwd|psw|secret|token|credential|[.-]auth$");

    /** Codes of docs/diagnostics.md. */
    static final String UNKNOWN = "RL-101";

    static final String TWICE = "RL-102";
    static final String UNREADABLE = "RL-103";
    static final String VALUE = "RL-104";
    static final String MISSING = "RL-105";
    static final String CONTRADICTION = "RL-106";
    static final String NO_POLICY = "RL-107";

    private record Problem(String source, int line, String text) {}

    private final Set<String> sources = new LinkedHashSet<>();
    private final List<Problem> found = new ArrayList<>();
    private final Set<String> keysTold = new LinkedHashSet<>();

    /** Names a place where text comes from. */
    void source(String source) {
        sources.add(source);
    }

    void add(String code, String source, int line, String text) {
        found.add(new Problem(source, line, code + " " + text));
    }

    /**
     * A problem of a key; what else is wrong with it is not told, for it may be wrong for that reason.
     *
     * @param text begins with its code
     */
    void addFirst(String source, int line, String key, String text) {
        keysTold.add(key);
        found.add(new Problem(source, line, text));
    }

    /** A problem of a value: shows the key and the value before what is wrong with it. */
    void add(String code, ConfigEntry entry, String text) {
        if (keysTold.contains(entry.key())) {
            return;
        }
        add(code, entry.source(), entry.line(), shown(entry.key()) + " = " + shown(entry) + ": " + text);
    }

    void throwIfAny() {
        if (found.isEmpty()) {
            return;
        }
        List<String> order = new ArrayList<>(sources);
        found.sort(Comparator.<Problem>comparingInt(p -> order.indexOf(p.source) & Integer.MAX_VALUE)
                .thenComparingInt(Problem::line));
        boolean oneSource = found.stream().map(Problem::source).distinct().count() == 1;
        List<String> lines = new ArrayList<>();
        for (Problem problem : found) {
            String place = (oneSource ? "" : problem.source)
                    + (problem.line > 0 ? (oneSource ? "" : " ") + "line " + problem.line : "");
            lines.add(place.isEmpty() ? problem.text : place + ": " + problem.text);
        }
        String what = found.size() == 1 ? "1 problem" : found.size() + " problems";
        String where = oneSource ? found.get(0).source : "the configuration";
        throw new ConfigException(where + " has " + what + ":\n  " + String.join("\n  ", lines), lines);
    }

    /** Text fit for a message: one line, not endless, without a password. */
    static String shown(String text) {
        int at = text.lastIndexOf('@');
        String masked = (at < 0 ? text : "***" + text.substring(at)).replaceFirst("(://[^?]*\\?).*", "$1***");
        StringBuilder shown = new StringBuilder();
        masked.codePoints().limit(LONGEST_VALUE).forEach(c -> {
            if (Character.isISOControl(c)) {
                shown.append(String.format("\\u%04x", c));
            } else {
                shown.appendCodePoint(c);
            }
        });
        return masked.codePointCount(0, masked.length()) > LONGEST_VALUE ? shown + "..." : shown.toString();
    }

    private static String shown(ConfigEntry entry) {
        return SECRET.matcher(entry.key()).find() ? "***" : shown(entry.value());
    }
}
