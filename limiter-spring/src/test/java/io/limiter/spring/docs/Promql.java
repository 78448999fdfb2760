package io.limiter.spring.docs;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads an expression of Prometheus and checks what it names: metrics, their labels and the values of those. Knows only as much of
 * the language as the files here use; what it does not know is an error.
 */
final class Promql {
    private static final Pattern TOKEN = Pattern.compile(
            "\\s*(?:(?<string>\"(?:[^\"\\\\]|\\\\.)*\")"
                    + "|(?<duration>\\d+[smhd](?![\\w.])|\\$__rate_interval)"
                    + "|(?<number>\\d+(?:\\.\\d+)?)|(?<name>[A-Za-z_:][\\w:]*)|(?<sign>=~|!~|!=|>=|<=|==|[-+*/<>=(){}\\[\\],]))");
    private static final Set<String> FUNCTIONS = Set.of("sum", "rate", "increase", "absent", "max", "min");
    private static final Set<String> WORDS = Set.of("and", "or", "unless");
    /** What Prometheus adds to each metric that it collects. */
    private static final Set<String> COLLECTED = Set.of("instance", "job");

    /** The metrics of an application: their labels, and the values that these have. */
    private final Map<String, Map<String, Set<String>>> metrics;

    private final Matcher tokens;
    private final Set<String> used = new TreeSet<>();
    private final Set<String> grouped = new TreeSet<>();
    private String kind = "";
    private String token = "";

    private Promql(String expression, Map<String, Map<String, Set<String>>> metrics) {
        this.tokens = TOKEN.matcher(expression.strip());
        this.metrics = metrics;
    }

    /** The labels by which an expression groups; throws {@link IllegalArgumentException} when anything is wrong with it. */
    static Set<String> check(String expression, Map<String, Map<String, Set<String>>> metrics) {
        Promql reader = new Promql(expression, metrics);
        reader.read();
        reader.refuseIf(reader.used.isEmpty(), "names no metric");
        return reader.grouped;
    }

    private void read() {
        Deque<String> open = new ArrayDeque<>();
        String metric = "";
        boolean afterBy = false;
        boolean beforeArguments = false;
        while (next()) {
            if (beforeArguments) {
                refuseIf(!token.equals("(") && !token.equals("by"), "has a function without arguments");
            }
            beforeArguments = false;
            if (token.equals("(") || token.equals("[")) {
                open.push(token.equals("(") && afterBy ? "by" : token);
                afterBy = false;
            } else if (token.equals("{")) {
                refuseIf(metric.isEmpty(), "has labels of nothing");
                readLabels(metric);
            } else if (token.equals(")") || token.equals("]")) {
                refuseIf(open.isEmpty() || open.pop().equals("[") != token.equals("]"), "closes what is not open");
            } else if (kind.equals("name") && "by".equals(open.peek())) {
                grouped.add(token);
            } else if (token.equals("by")) {
                afterBy = true;
            } else if (kind.equals("name") && FUNCTIONS.contains(token)) {
                beforeArguments = true;
            } else if (kind.equals("name") && !WORDS.contains(token)) {
                metric = token;
                refuseIf(!metrics.containsKey(metric), "names the metric " + metric + ", which nobody exports");
                used.add(metric);
            } else if (kind.equals("duration")) {
                refuseIf(!"[".equals(open.peek()), "has a duration outside of [ ]");
            }
        }
        refuseIf(!open.isEmpty(), "does not close " + open);
        grouped.forEach(label -> used.forEach(one -> refuseIf(!hasLabel(one, label), one + " has no label " + label)));
    }

    private void readLabels(String metric) {
        do {
            next();
            String label = token;
            refuseIf(!kind.equals("name") || !hasLabel(metric, label), metric + " has no label " + label);
            next();
            refuseIf(!Set.of("=", "=~", "!=", "!~").contains(token), "compares " + label + " by " + token);
            next();
            refuseIf(!kind.equals("string"), "compares " + label + " with " + token);
            String text = token.substring(1, token.length() - 1);
            if (!text.startsWith("$")) {
                for (String value : text.split("\\|", -1)) {
                    refuseIf(
                            !metrics.get(metric).get(label).contains(value),
                            label + " of " + metric + " is never " + value);
                }
            }
            next();
        } while (token.equals(","));
        refuseIf(!token.equals("}"), "does not close {");
    }

    private boolean hasLabel(String metric, String label) {
        return COLLECTED.contains(label) || metrics.get(metric).containsKey(label);
    }

    private boolean next() {
        if (tokens.regionStart() == tokens.regionEnd()) {
            token = "";
            return false;
        }
        refuseIf(!tokens.lookingAt(), "can't be read");
        for (String one : new String[] {"string", "duration", "number", "name", "sign"}) {
            if (tokens.group(one) != null) {
                kind = one;
                token = tokens.group(one);
            }
        }
        tokens.region(tokens.end(), tokens.regionEnd());
        return true;
    }

    private void refuseIf(boolean wrong, String why) {
        if (wrong) {
            throw new IllegalArgumentException("an expression " + why + ", at '" + token + "'");
        }
    }
}
