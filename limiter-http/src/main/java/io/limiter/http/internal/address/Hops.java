package io.limiter.http.internal.address;

import io.limiter.address.IpAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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

    /** An element, and the comma after it: commas in quotes are a part of it. Possessive too. */
    private static final Pattern ELEMENT =
            Pattern.compile("\\G((?:[^\",]++|\"(?:[^\"\\\\]++|\\\\.)*+\")*+)(?:,|\\z)", Pattern.DOTALL);

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

    Hops(Form form, List<String> lines) {
        this.form = form;
        this.lines = lines;
        this.line = lines.size();
    }

    /** Goes to the next hop; null when there is none. A broken one is the last. */
    @Nullable
    Hop next() {
        while (elementsLeft > 0 || line > 0) {
            if (elementsLeft == 0) {
                String whole = Objects.requireNonNullElse(lines.get(--line), "");
                elements = elements(whole);
                elementsLeft = elements.size();
                charsLeft -= whole.length();
                if (elementsLeft == 0) {
                    boolean isTwice = form == Form.SINGLE;
                    return broken(
                            whole,
                            isTwice
                                    ? "the header has one address and came " + lines.size() + " times"
                                    : "a quote has no end");
                }
            }
            String element = stripped(elements.get(--elementsLeft));
            if (charsLeft < 0 && elementsLeft == 0) {
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

    /**
     * The elements of a line. Of one that is too long the first can't be read, nor anything before it. None if the line is malformed as a
     * whole: a client that sends a quote without an end could hide what a proxy appends to it.
     */
    private List<String> elements(String whole) {
        boolean isCut = whole.length() > charsLeft;
        if (form == Form.LIST) {
            // Only the end, written by the nearest proxies.
            return List.of(
                    whole.substring(isCut ? whole.length() - charsLeft : 0).split(",", -1));
        } else if (form == Form.SINGLE || isCut) {
            return form == Form.SINGLE && lines.size() > 1 ? List.of() : List.of(whole);
        }
        List<String> found = new ArrayList<>();
        Matcher element = ELEMENT.matcher(whole);
        while (element.find()) {
            found.add(element.group(1));
            if (element.end() == whole.length() && !element.group().endsWith(",")) {
                return found;
            }
        }
        return List.of();
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
