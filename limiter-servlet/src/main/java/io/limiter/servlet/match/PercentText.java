package io.limiter.servlet.match;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.CoderMalfunctionError;
import java.nio.charset.StandardCharsets;

/** Percent-encoded text (RFC 3986 section 2.1). Whatever is malformed stays, or becomes U+FFFD; it is no error. */
final class PercentText {
    private PercentText() {}

    /** Returns the text that was encoded as UTF-8, decoded once. */
    static String decoded(String text) {
        return decoded(text, StandardCharsets.UTF_8);
    }

    /** Decodes each run of encoded octets by itself, as {@link java.net.URLDecoder} does. */
    static String decoded(String text, Charset charset) {
        return decoded(text, charset, false);
    }

    /**
     * Decodes the whole text as octets, those that are not encoded included, as Spring's {@code UriUtils} and Tomcat's
     * parameters do. In a charset with shift sequences, {@code %1B(Bvote} is {@code vote} only to them.
     */
    static String decodedWhole(String text, Charset charset) {
        return decoded(text, charset, true);
    }

    private static String decoded(String text, Charset charset, boolean whole) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        StringBuilder plain = new StringBuilder(text.length());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            int octet = octet(text, i);
            if (octet >= 0) {
                bytes.write(octet);
                i += 2;
            } else if (whole) {
                // Of a character above 255 the lower eight bits, which is what is left of it there.
                bytes.write(text.charAt(i));
            } else {
                flush(bytes, charset, plain);
                plain.append(text.charAt(i));
            }
        }
        flush(bytes, charset, plain);
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

    private static void flush(ByteArrayOutputStream bytes, Charset charset, StringBuilder plain) {
        try {
            plain.append(bytes.size() == 0 ? "" : bytes.toString(charset));
        } catch (RuntimeException | CoderMalfunctionError brokenDecoder) {
            // The decoder fails for the application as well. It must not decide about the other readings.
            plain.append('\uFFFD');
        }
        bytes.reset();
    }
}
