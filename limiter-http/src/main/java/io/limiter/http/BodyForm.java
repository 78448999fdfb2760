package io.limiter.http;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The forms of the body of the standard answer. */
enum BodyForm {
    PROBLEM_JSON("application/problem+json"),
    TEXT("text/plain;charset=utf-8"),
    HTML("text/html;charset=utf-8");

    /** More is not read: a legitimate client does not send it. */
    private static final int LONGEST_ACCEPT = 4_096;

    /** A media type, and its weight (RFC 9110 section 12.4.2); other parameters than a charset do not match ours. */
    private static final Pattern RANGE = Pattern.compile(
            "([^;\\s]+)\\s*(?:;\\s*charset=[^;\\s]*\\s*)?(?:;\\s*q=(0(?:\\.[0-9]{0,3})?|1(?:\\.0{0,3})?)"
                    + "\\s*(?:;.*)?)?");

    /** May contain commas, which are not separators. */
    private static final Pattern QUOTED = Pattern.compile("\"[^\"]*\"?");

    final String contentType;

    BodyForm(String contentType) {
        this.contentType = contentType;
    }

    /**
     * HTML or plain text if the Accept lines of a request give it more weight than the media types of a problem
     * document, else the problem document.
     *
     * @param accept null, as some servers return, means no line
     */
    static BodyForm preferred(@Nullable List<String> accept) {
        double[] weights = new double[values().length];
        int left = LONGEST_ACCEPT;
        for (String line : accept == null ? List.<String>of() : accept) {
            left -= line.length();
            if (left < 0) {
                break;
            }
            for (String range :
                    QUOTED.matcher(line.toLowerCase(Locale.ROOT)).replaceAll("").split(",", -1)) {
                addWeight(range.strip(), weights);
            }
        }
        BodyForm best = PROBLEM_JSON;
        for (BodyForm form : values()) {
            best = weights[form.ordinal()] > weights[best.ordinal()] ? form : best;
        }
        return best;
    }

    private static void addWeight(String range, double[] weights) {
        Matcher parts = RANGE.matcher(range);
        if (parts.matches()) {
            BodyForm form = switch (parts.group(1)) {
                case "*/*", "application/*", "application/json", "application/problem+json" -> PROBLEM_JSON;
                case "text/plain", "text/*" -> TEXT;
                case "text/html" -> HTML;
                default -> null;
            };
            if (form != null) {
                double weight = parts.group(2) == null ? 1 : Double.parseDouble(parts.group(2));
                weights[form.ordinal()] = Math.max(weights[form.ordinal()], weight);
            }
        }
    }
}
