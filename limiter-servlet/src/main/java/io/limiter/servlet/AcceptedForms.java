package io.limiter.servlet;

import java.util.EnumMap;
import java.util.Enumeration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the Accept lines of a request say of our bodies (RFC 9110 section 12.5.1): of all ranges that a body is in, the
 * narrowest tells its weight. A range that is malformed is not there; so is what comes after many of them.
 */
final class AcceptedForms {
    private static final int MOST_RANGES = 64;
    private static final int LONGEST = 4_096;
    private static final Pattern WEIGHT = Pattern.compile("0(\\.[0-9]{0,3})?|1(\\.0{0,3})?");

    /** How narrowly a range means a body. Who wants JSON takes a problem document, but says less than who names it. */
    private static final int ALL = 1;

    private static final int WHOLE_TYPE = 2;
    private static final int RELATIVE = 3;
    private static final int ITSELF = 4;

    private final Map<BodyForm, Integer> narrowness = new EnumMap<>(BodyForm.class);
    private final Map<BodyForm, Integer> weights = new EnumMap<>(BodyForm.class);
    private int ranges;
    private int length;

    private AcceptedForms() {}

    /** Null, as some containers answer, is no line. */
    static AcceptedForms of(@Nullable Enumeration<String> lines) {
        AcceptedForms forms = new AcceptedForms();
        while (lines != null && lines.hasMoreElements()) {
            forms.read(lines.nextElement());
        }
        return forms;
    }

    /** The body with the most weight; a problem document when several have it, and when nothing fits. */
    BodyForm best() {
        BodyForm best = BodyForm.PROBLEM_JSON;
        for (BodyForm form : BodyForm.values()) {
            if (weights.getOrDefault(form, 0) > weights.getOrDefault(best, 0)) {
                best = form;
            }
        }
        return best;
    }

    private void read(String line) {
        int start = 0;
        while (start <= line.length()) {
            int end = end(line, start, ',');
            length += end - start;
            if (++ranges > MOST_RANGES || length > LONGEST) {
                return;
            }
            range(line.substring(start, end));
            start = end + 1;
        }
    }

    private void range(String range) {
        int weight = 1_000;
        int start = end(range, 0, ';');
        String type = range.substring(0, start).strip().toLowerCase(Locale.ROOT);
        while (start < range.length()) {
            int end = end(range, start + 1, ';');
            String parameter = range.substring(start + 1, end).strip().toLowerCase(Locale.ROOT);
            start = end;
            if (parameter.startsWith("q=")) {
                weight = weight(parameter.substring(2));
                break;
            }
            if (!parameter.isEmpty() && !parameter.startsWith("charset=")) {
                // Asks for something that ours is not: text/html;level=1.
                return;
            }
        }
        if (weight < 0) {
            return;
        }
        switch (type) {
            case "*/*" -> say(ALL, weight, BodyForm.values());
            case "application/*" -> say(WHOLE_TYPE, weight, BodyForm.PROBLEM_JSON);
            case "application/json" -> say(RELATIVE, weight, BodyForm.PROBLEM_JSON);
            case "application/problem+json" -> say(ITSELF, weight, BodyForm.PROBLEM_JSON);
            case "text/*" -> say(WHOLE_TYPE, weight, BodyForm.TEXT, BodyForm.HTML);
            case "text/plain" -> say(ITSELF, weight, BodyForm.TEXT);
            case "text/html" -> say(ITSELF, weight, BodyForm.HTML);
            default -> {
                // Of another kind than ours.
            }
        }
    }

    private void say(int narrow, int weight, BodyForm... forms) {
        for (BodyForm form : forms) {
            int known = narrowness.getOrDefault(form, 0);
            if (narrow >= known) {
                weights.merge(form, weight, narrow > known ? (less, more) -> more : Math::max);
                narrowness.put(form, narrow);
            }
        }
    }

    /** In thousandths; -1 when the text is no weight. */
    private static int weight(String text) {
        if (!WEIGHT.matcher(text).matches()) {
            return -1;
        }
        int thousandths = text.charAt(0) == '1' ? 1_000 : 0;
        int unit = 100;
        for (int i = 2; i < text.length(); i++) {
            thousandths += (text.charAt(i) - '0') * unit;
            unit /= 10;
        }
        return thousandths;
    }

    /** Where the next separator stands that is not in quotes; the end of the text when there is none. */
    private static int end(String text, int from, char separator) {
        boolean quoted = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == separator && !quoted) {
                return i;
            }
        }
        return text.length();
    }
}
