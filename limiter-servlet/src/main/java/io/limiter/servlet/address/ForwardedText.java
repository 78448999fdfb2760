package io.limiter.servlet.address;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The grammar of the header {@code Forwarded}: RFC 7239 section 4, tokens and quoted strings as in RFC 9110 section 5.6. */
final class ForwardedText {
    private static final String TOKEN = "([A-Za-z0-9!#$%&'*+.^_`|~-]++)";
    private static final String CONTROLS = "\\x00-\\x08\\x0a-\\x1f\\x7f";
    private static final String QUOTED = "\"((?:[^\"\\\\" + CONTROLS + "]|\\\\[^" + CONTROLS + "])*+)\"";

    /** A pair, or none, and the semicolon after it. Possessive, so that there is no backtracking and no deep stack. */
    private static final Pattern PAIR =
            Pattern.compile("\\G[ \\t]*+(?:" + TOKEN + "=(?:" + TOKEN + "|" + QUOTED + ")[ \\t]*+)?+(?:;|\\z)");

    private static final Pattern ESCAPED = Pattern.compile("\\\\(.)", Pattern.DOTALL);

    private ForwardedText() {}

    /**
     * The elements of a line, separated by commas outside of quotes; null if a quote does not end. Such a line is
     * ignored as a whole: its client could hide what a proxy appends to it.
     */
    static @Nullable List<String> elements(String line) {
        List<String> elements = new ArrayList<>();
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (quoted && c == '\\') {
                i++;
            } else if (!quoted && c == ',') {
                elements.add(line.substring(start, i));
                start = i + 1;
            }
        }
        elements.add(line.substring(start));
        return quoted ? null : elements;
    }

    /** The value of {@code for} in an element, unquoted; null if there is none, or the element does not match the grammar. */
    static @Nullable String forNode(String element) {
        String node = null;
        Set<String> names = new HashSet<>();
        Matcher pair = PAIR.matcher(element);
        int end = 0;
        while (pair.find()) {
            String name = pair.group(1);
            if (name != null && !names.add(name.toLowerCase(Locale.ROOT))) {
                return null;
            }
            if ("for".equalsIgnoreCase(name)) {
                String quoted = pair.group(3);
                node = quoted == null ? pair.group(2) : ESCAPED.matcher(quoted).replaceAll("$1");
            }
            end = pair.end();
        }
        return end == element.length() ? node : null;
    }
}
