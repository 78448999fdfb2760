package io.limiter.servlet.match;

import io.limiter.config.RequestCondition;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request meets a rule's conditions on headers and query. It is unknown how the application reads repeated,
 * encoded or unusual values, so every possible match counts as one. Immutable.
 */
final class ConditionMatcher {
    private final RequestCondition[] headers;
    private final RequestCondition[] parameters;

    ConditionMatcher(List<RequestCondition> headers, List<RequestCondition> parameters) {
        this.headers = headers.toArray(RequestCondition[]::new);
        this.parameters = parameters.toArray(RequestCondition[]::new);
    }

    /**
     * Whether all conditions may be met.
     *
     * @param surely whether they must be met in every reading
     */
    boolean hold(HttpServletRequest request, boolean surely) {
        for (RequestCondition header : headers) {
            if (!(surely ? isSure(header, request) : mayHold(header, request))) {
                return false;
            }
        }
        return parameters.length == 0 || holdInQuery(request, surely);
    }

    private static boolean mayHold(RequestCondition header, HttpServletRequest request) {
        Enumeration<String> lines = request.getHeaders(header.name());
        boolean may = lines == null || (header.value() == null && lines.hasMoreElements());
        while (!may && lines.hasMoreElements()) {
            String line = lines.nextElement();
            // A proxy may have joined several lines.
            may = isSame(line, header.value());
            for (String item : line.split(",", -1)) {
                may |= isSame(item, header.value());
            }
        }
        return may;
    }

    private static boolean isSure(RequestCondition header, HttpServletRequest request) {
        Enumeration<String> lines = request.getHeaders(header.name());
        if (lines == null || !lines.hasMoreElements()) {
            return false;
        }
        return header.value() == null || (lines.nextElement().equals(header.value()) && !lines.hasMoreElements());
    }

    private boolean holdInQuery(HttpServletRequest request, boolean surely) {
        // The body of a form may have any parameter.
        boolean form = String.valueOf(request.getContentType())
                .toLowerCase(Locale.ROOT)
                .contains("form");
        List<String> queries = QueryText.of(request);
        for (RequestCondition parameter : parameters) {
            boolean holds = surely
                    ? !form && queries.size() == 1 && isSure(parameter, queries.get(0))
                    : form || queries.stream().anyMatch(query -> mayHold(parameter, query, request));
            if (!holds) {
                return false;
            }
        }
        return true;
    }

    private static boolean mayHold(RequestCondition wanted, String query, HttpServletRequest request) {
        Charset charset = PercentText.rereading(request, query);
        QueryText.Parameter same = (name, value) -> isNamed(name, wanted, charset)
                && (wanted.value() == null || (value != null && may(value, wanted.value(), charset)));
        // Some read a semicolon as an ampersand.
        return QueryText.any(query, same) || (query.indexOf(';') >= 0 && QueryText.any(query.replace(';', '&'), same));
    }

    /** It occurs exactly once, unencoded. */
    private static boolean isSure(RequestCondition wanted, String query) {
        String exact = wanted.toString();
        int[] found = new int[2];
        QueryText.any(query, (name, value) -> {
            boolean plain = name.equals(wanted.name())
                    && (wanted.value() == null || (value != null && (name + "=" + value).equals(exact)));
            found[0] += plain ? 1 : 0;
            found[1] += isNamed(name, wanted, null) ? 1 : 0;
            return false;
        });
        return found[0] > 0
                && (wanted.value() == null
                        || (found[1] == 1
                                && query.indexOf('%') < 0
                                && query.indexOf('+') < 0
                                && query.indexOf(';') < 0));
    }

    private static boolean isNamed(String name, RequestCondition wanted, @Nullable Charset charset) {
        return may(name, wanted.name(), charset);
    }

    private static boolean may(String text, String wanted, @Nullable Charset charset) {
        for (String reading : QueryText.readings(text.replace('+', ' '), charset)) {
            if (isSame(reading, wanted)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a text equals the expected value, ignoring what a lenient application removes: parameters, spaces, quotes. */
    private static boolean isSame(String text, @Nullable String wanted) {
        if (wanted == null || text.equalsIgnoreCase(wanted)) {
            return wanted != null;
        }
        int parameters = text.indexOf(';');
        int end = parameters < 0 ? text.length() : parameters;
        int start = 0;
        while (start < end && isAround(text.charAt(start))) {
            start++;
        }
        while (end > start && isAround(text.charAt(end - 1))) {
            end--;
        }
        return end - start == wanted.length() && text.regionMatches(true, start, wanted, 0, wanted.length());
    }

    private static boolean isAround(char c) {
        return c == '"'
                || c == '\''
                || Character.isWhitespace(c)
                || Character.isSpaceChar(c)
                || Character.isISOControl(c);
    }
}
