package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The hops that a header lists, from the last one back: those at the end were added by the proxies nearest to us. All lines
 * of the header are one list; its empty elements are no hops (RFC 9110 section 5.6.1.2). Looks at no more than is asked
 * for, and at no more than {@value #MAX_CHARS} characters and {@value #MAX_EMPTY} empty elements. Used once, by one thread.
 */
final class Hops {
    /** What a proxy accepts as all headers of a request is not much more; an honest chain has some dozens. */
    static final int MAX_CHARS = 8_192;

    /** A proxy that appends to a header that is not there leaves one; a hundred are an attack, not a list. */
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

    /** The elements of the line at hand, and how many of them are left. */
    private List<String> elements = List.of();

    private int elementsLeft;

    /** Whether the line at hand is too long, so that its first element can't be read, nor anything before it. */
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
                return broken(element, "more than " + MAX_CHARS + " characters had to be looked at");
            }
            if (!element.isEmpty() || form == Form.SINGLE) {
                read(element);
                return true;
            }
            if (--emptyLeft < 0) {
                return broken("", "more than " + MAX_EMPTY + " empty elements had to be looked at");
            }
        }
        return false;
    }

    /** The address of this hop; null when it is something else, behind which there may be more, or is broken. */
    @Nullable
    IpAddress address() {
        return address;
    }

    /** What stands in the header for this hop. It comes from the network. */
    String text() {
        return text;
    }

    /** Why this hop is no address. */
    String wrong() {
        return wrong;
    }

    /** Whether this hop is something that nobody can read on from. */
    boolean isBroken() {
        return broken;
    }

    /** Takes the elements of the line before; false when it is broken. */
    private boolean readLine() {
        if (form == Form.SINGLE && lines.size() > 1) {
            return !broken(line(lines.size() - 1), "the header has one address and came " + lines.size() + " times");
        }
        String whole = line(--line);
        cut = whole.length() > charsLeft;
        List<String> found = List.of(whole);
        if (form == Form.LIST) {
            // Of a line that is too long its end, which the nearest proxies wrote.
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
        wrong = node == null ? "it has no 'for', or is not of the grammar of RFC 7239" : "it is no address";
    }

    private boolean broken(String at, String why) {
        text = at;
        wrong = why;
        address = null;
        broken = true;
        return true;
    }

    /** A line of the header; containers give no null, and what gives one has said nothing. */
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
