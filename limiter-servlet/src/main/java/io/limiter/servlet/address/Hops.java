package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import java.util.List;
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

    /** How a header lists hops. */
    enum Form {
        /** Addresses with commas between them. */
        LIST,
        /** RFC 7239. */
        FORWARDED,
        /** One address. */
        SINGLE
    }

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

    private @Nullable IpAddress address;
    private String text = "";
    private String wrong = "";
    private boolean broken;

    Hops(Form form, List<String> lines) {
        this.form = form;
        this.lines = lines;
        this.line = lines.size();
    }

    /** Goes to the next hop; false when there is none. */
    boolean next() {
        while (elementsLeft > 0 || line > 0) {
            if (elementsLeft == 0 && !readLine()) {
                return true;
            }
            String element = stripped(elements.get(--elementsLeft));
            if (cut && elementsLeft == 0) {
                return broken(element, "more than " + MAX_CHARS + " characters had to be read");
            }
            if (!element.isEmpty() || form == Form.SINGLE) {
                read(element);
                return true;
            }
            if (--emptyLeft < 0) {
                return broken("", "more than " + MAX_EMPTY + " empty elements had to be read");
            }
        }
        return false;
    }

    /** The address of this hop; null if it is something else, or malformed. */
    @Nullable
    IpAddress address() {
        return address;
    }

    /** The text of this hop in the header. It comes from the network. */
    String text() {
        return text;
    }

    /** The reason why this hop is not an address. */
    String wrong() {
        return wrong;
    }

    /** Whether this hop is malformed, so that the hops before it can't be read. */
    boolean isBroken() {
        return broken;
    }

    /** Reads the elements of the previous line; false if it is malformed. */
    private boolean readLine() {
        if (form == Form.SINGLE && lines.size() > 1) {
            return !broken(line(lines.size() - 1), "the header has one address and came " + lines.size() + " times");
        }
        String whole = line(--line);
        cut = whole.length() > charsLeft;
        List<String> found = List.of(whole);
        if (form == Form.LIST) {
            // Only the end of a line that is too long, written by the nearest proxies.
            found = List.of(
                    whole.substring(cut ? whole.length() - charsLeft : 0).split(",", -1));
        } else if (form == Form.FORWARDED && !cut) {
            found = ForwardedText.elements(whole);
        }
        charsLeft -= Math.min(charsLeft, whole.length());
        if (found == null) {
            return !broken(whole, "a quote has no end");
        }
        elements = found;
        elementsLeft = found.size();
        return true;
    }

    private void read(String element) {
        text = element;
        String node = form == Form.FORWARDED ? ForwardedText.forNode(element) : element;
        address = node == null ? null : Node.address(node, form != Form.FORWARDED);
        wrong = node == null ? "it has no 'for', or is not of the grammar of RFC 7239" : "it is not an address";
    }

    private boolean broken(String at, String why) {
        text = at;
        wrong = why;
        address = null;
        broken = true;
        return true;
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
}
