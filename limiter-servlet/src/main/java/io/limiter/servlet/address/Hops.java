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

    /** What comes next. */
    enum Step {
        /** An address. */
        ADDRESS,
        /** Something else, behind which there may be more. */
        OTHER,
        /** Something that nobody can read on from. */
        BROKEN,
        /** Nothing. */
        END
    }

    private final Form form;
    private final List<String> lines;
    private int line;
    private int charsLeft = MAX_CHARS;
    private int emptyLeft = MAX_EMPTY;

    /** The elements of the line at hand, and how many of them are left; used by {@link Form#FORWARDED} alone. */
    private List<String> elements = List.of();

    private int elementsLeft;

    /** Where the text begins that the line at hand has been read back to; -1 when it has been read. */
    private int end = -1;

    private @Nullable IpAddress address;
    private String text = "";
    private String wrong = "";

    Hops(Form form, List<String> lines) {
        this.form = form;
        this.lines = lines;
        this.line = lines.size();
    }

    /** Goes to the next hop. */
    Step step() {
        address = null;
        return switch (form) {
            case LIST -> list();
            case FORWARDED -> forwarded();
            case SINGLE -> single();
        };
    }

    /** The address of this hop. */
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

    private Step list() {
        while (end >= 0 || line > 0) {
            if (end < 0) {
                end = line(--line).length();
            }
            String whole = line(line);
            int comma = end - 1;
            while (comma >= 0 && whole.charAt(comma) != ',') {
                if (--charsLeft <= 0) {
                    return tooLong(whole.substring(comma, end));
                }
                comma--;
            }
            charsLeft--;
            String element = stripped(whole.substring(comma + 1, end));
            end = comma;
            if (!element.isEmpty()) {
                return node(element, element, true);
            }
            if (--emptyLeft < 0) {
                return tooManyEmpty();
            }
        }
        return Step.END;
    }

    private Step forwarded() {
        while (elementsLeft > 0 || line > 0) {
            if (elementsLeft == 0) {
                String whole = line(--line);
                charsLeft -= whole.length();
                if (charsLeft < 0) {
                    return tooLong(whole);
                }
                List<String> found = ForwardedText.elements(whole);
                if (found == null) {
                    return broken(whole, "a quote has no end");
                }
                elements = found;
                elementsLeft = found.size();
            }
            String element = stripped(elements.get(--elementsLeft));
            if (!element.isEmpty()) {
                return forwarded(element);
            }
            if (--emptyLeft < 0) {
                return tooManyEmpty();
            }
        }
        return Step.END;
    }

    private Step forwarded(String element) {
        String node = ForwardedText.forNode(element);
        if (node == null) {
            text = element;
            wrong = "it has no 'for', or is not of the grammar of RFC 7239";
            return Step.OTHER;
        }
        return node(element, node, false);
    }

    private Step single() {
        if (line == 0) {
            return Step.END;
        }
        if (lines.size() > 1) {
            return broken(line(lines.size() - 1), "the header has one address and came " + lines.size() + " times");
        }
        String only = stripped(line(--line));
        return only.length() > MAX_CHARS ? tooLong(only) : node(only, only, true);
    }

    private Step node(String shown, String node, boolean bareIpv6) {
        text = shown;
        address = Node.address(node, bareIpv6);
        wrong = address == null ? "it is no address" : "";
        return address == null ? Step.OTHER : Step.ADDRESS;
    }

    private Step tooLong(String from) {
        return broken(from, "more than " + MAX_CHARS + " characters had to be looked at");
    }

    private Step tooManyEmpty() {
        return broken("", "more than " + MAX_EMPTY + " empty elements had to be looked at");
    }

    private Step broken(String at, String why) {
        text = at;
        wrong = why;
        return Step.BROKEN;
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
