package io.limiter.servlet.address;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The grammar of the header {@code Forwarded}: RFC 7239 section 4, tokens and quoted strings as in RFC 9110 section 5.6. */
final class ForwardedText {
    private static final String TOKEN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";

    private final String element;
    private int at;

    private ForwardedText(String element) {
        this.element = element;
    }

    /**
     * The elements of a line, which commas outside of quotes separate; null when a quote does not end. Such a line says
     * nothing at all: who begins it could swallow what a proxy adds at its end.
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

    /** The value of {@code for} in an element, unquoted; null when there is none, or the element is not of the grammar. */
    static @Nullable String forNode(String element) {
        return new ForwardedText(element).forNode();
    }

    private @Nullable String forNode() {
        String node = null;
        Set<String> names = new HashSet<>();
        skipSpace();
        while (at < element.length()) {
            if (element.charAt(at) != ';') {
                String name = token().toLowerCase(Locale.ROOT);
                if (name.isEmpty() || !names.add(name) || at == element.length() || element.charAt(at++) != '=') {
                    return null;
                }
                String value = value();
                if (value == null) {
                    return null;
                }
                node = name.equals("for") ? value : node;
                skipSpace();
                if (at < element.length() && element.charAt(at) != ';') {
                    return null;
                }
            }
            at++;
            skipSpace();
        }
        return node;
    }

    private @Nullable String value() {
        if (at < element.length() && element.charAt(at) == '"') {
            at++;
            return quoted();
        }
        String token = token();
        return token.isEmpty() ? null : token;
    }

    private @Nullable String quoted() {
        StringBuilder value = new StringBuilder();
        while (at < element.length()) {
            char c = element.charAt(at++);
            if (c == '"') {
                return value.toString();
            }
            if (c == '\\') {
                if (at == element.length()) {
                    return null;
                }
                c = element.charAt(at++);
            }
            if ((c < ' ' && c != '\t') || c == '\u007f') {
                return null;
            }
            value.append(c);
        }
        return null;
    }

    private String token() {
        int start = at;
        while (at < element.length() && TOKEN.indexOf(element.charAt(at)) >= 0) {
            at++;
        }
        return element.substring(start, at);
    }

    private void skipSpace() {
        while (at < element.length() && (element.charAt(at) == ' ' || element.charAt(at) == '\t')) {
            at++;
        }
    }
}
