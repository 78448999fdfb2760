package io.limiter.http.internal.address;

import io.limiter.address.IpAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The hops that a header lists, backwards from the last one: those at the end were added by the nearest proxies. All
 * lines of the header are one list; its empty elements are ignored (RFC 9110 section 5.6.1.2). Reads no more than
 * needed, and at most {@value #MAX_CHARS} characters and {@value #MAX_EMPTY} empty elements. Used once, by one thread.
 */
final class Hops {
    /** Proxies accept not much more as all headers of a request; a real chain has some dozens. */
    static final int MAX_CHARS = 8_192;

    /** A proxy that appends to a missing header leaves one; a hundred are an attack. */
    static final int MAX_EMPTY = 16;

    /** The grammar of the header {@code Forwarded}: RFC 7239 section 4, tokens and quoted strings as in RFC 9110 section 5.6. */
    private static final String TOKEN = "([A-Za-z0-9!#$%&'*+.^_`|~-]++)";

    private static final String CONTROLS = "\\x00-\\x08\\x0a-\\x1f\\x7f";
    private static final String QUOTED = "\"((?:[^\"\\\\" + CONTROLS + "]|\\\\[^" + CONTROLS + "])*+)\"";

    /** A pair, or none, and the semicolon after it. Possessive, so that there is no backtracking and no deep stack. */
    private static final Pattern PAIR =
            Pattern.compile("\\G[ \\t]*+(?:" + TOKEN + "=(?:" + TOKEN + "|" + QUOTED + ")[ \\t]*+)?+(?:;|\\z)");

    private static final Pattern ESCAPED = Pattern.compile("\\\\(.)", Pattern.DOTALL);

    /** How a header lists hops. */
    enum Form {
        /** Addresses with commas between them. */
        LIST,
        /** RFC 7239. */
        FORWARDED,
        /** One address. */
        SINGLE
    }

    /**
     * One hop.
     *
     * @param address null if it is something else, or malformed
     * @param text of the hop in the header. It comes from the network
     * @param wrong why it is not an address, if it is none
     * @param isBroken whether it is malformed, so that the hops before it can't be read
     */
    record Hop(@Nullable IpAddress address, String text, String wrong, boolean isBroken) {}

    private final Form form;
    private final List<String> lines;
    private int line;
    private int charsLeft = MAX_CHARS;
    private int emptyLeft = MAX_EMPTY;

    /** The elements of the current line, and how many of them are left. */
    private List<String> elements = List.of();

    private int elementsLeft;

    /** Whether the current line is too long, so that its first element can't be read, nor anything before it. */
    private boolean cut;

    Hops(Form form, List<String> lines) {
        this.form = form;
        this.lines = lines;
        this.line = lines.size();
    }

    /** Goes to the next hop; null when there is none. */
    @Nullable
    Hop next() {
        while (elementsLeft > 0 || line > 0) {
            Hop malformed = elementsLeft == 0 ? readLine() : null;
            if (malformed != null) {
                return malformed;
            }
            String element = stripped(elements.get(--elementsLeft));
            if (cut && elementsLeft == 0) {
                return broken(element, "more than " + MAX_CHARS + " characters had to be read");
            }
            if (!element.isEmpty() || form == Form.SINGLE) {
                return read(element);
            }
            if (--emptyLeft < 0) {
                return broken("", "more than " + MAX_EMPTY + " empty elements had to be read");
            }
        }
        return null;
    }

    /** Reads the elements of the previous line; returns a hop if it is malformed. */
    private @Nullable Hop readLine() {
        if (form == Form.SINGLE && lines.size() > 1) {
            return broken(line(lines.size() - 1), "the header has one address and came " + lines.size() + " times");
        }
        String whole = line(--line);
        cut = whole.length() > charsLeft;
        List<String> found = List.of(whole);
        if (form == Form.LIST) {
            // Only the end of a line that is too long, written by the nearest proxies.
            found = List.of(
                    whole.substring(cut ? whole.length() - charsLeft : 0).split(",", -1));
        } else if (form == Form.FORWARDED && !cut) {
            found = forwardedElements(whole);
        }
        charsLeft -= Math.min(charsLeft, whole.length());
        if (found == null) {
            return broken(whole, "a quote has no end");
        }
        elements = found;
        elementsLeft = found.size();
        return null;
    }

    private Hop read(String element) {
        String node = form == Form.FORWARDED ? forNode(element) : element;
        return new Hop(
                node == null ? null : Node.address(node, form != Form.FORWARDED),
                element,
                node == null ? "it has no 'for', or is not of the grammar of RFC 7239" : "it is not an address",
                false);
    }

    private static Hop broken(String at, String why) {
        return new Hop(null, at, why, true);
    }

    /** A line of the header; null is treated as empty. */
    private String line(int index) {
        String found = lines.get(index);
        return found == null ? "" : found;
    }

    /** Without the white space that RFC 9110 section 5.6.3 allows around an element. Other kinds of it are no part of it. */
    private static String stripped(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && isSpace(text.charAt(from))) {
            from++;
        }
        while (to > from && isSpace(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }

    /**
     * The elements of a line, separated by commas outside of quotes; null if a quote does not end. Such a line is
     * ignored as a whole: its client could hide what a proxy appends to it.
     */
    private static @Nullable List<String> forwardedElements(String line) {
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
    private static @Nullable String forNode(String element) {
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
