package io.limiter.servlet;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Percent-encoded text (RFC 3986 section 2.1) of UTF-8. Whatever is malformed stays, or becomes U+FFFD; it is no error. */
final class PercentText {
    private PercentText() {}

    /** The text that was encoded, decoded once. */
    static String decoded(String text) {
        int percent = text.indexOf('%');
        if (percent < 0) {
            return text;
        }
        StringBuilder plain = new StringBuilder(text.length()).append(text, 0, percent);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int i = percent;
        while (i < text.length()) {
            int octet = octet(text, i);
            if (octet >= 0) {
                bytes.write(octet);
                i += 3;
                continue;
            }
            flush(bytes, plain);
            plain.append(text.charAt(i++));
        }
        flush(bytes, plain);
        return plain.toString();
    }

    /** The octet that is encoded there; -1 when none is. */
    static int octet(String text, int at) {
        if (text.charAt(at) != '%' || at + 2 >= text.length()) {
            return -1;
        }
        int high = hex(text.charAt(at + 1));
        int low = hex(text.charAt(at + 2));
        return high < 0 || low < 0 ? -1 : high * 16 + low;
    }

    private static int hex(char c) {
        return c < 128 ? Character.digit(c, 16) : -1;
    }

    private static void flush(ByteArrayOutputStream bytes, StringBuilder plain) {
        if (bytes.size() > 0) {
            plain.append(bytes.toString(StandardCharsets.UTF_8));
            bytes.reset();
        }
    }
}
