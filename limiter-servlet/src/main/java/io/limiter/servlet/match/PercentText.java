package io.limiter.servlet.match;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.CoderMalfunctionError;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Percent-encoded text (RFC 3986 section 2.1). Malformed parts stay as they are, or become U+FFFD; they are not errors. */
final class PercentText {
    private PercentText() {}

    /** Returns the text that was encoded as UTF-8, decoded once. */
    static String decoded(String text) {
        return decoded(text, StandardCharsets.UTF_8);
    }

    /** Decodes each run of encoded octets separately, as {@link java.net.URLDecoder} does. */
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
            if (isOctet(text, i)) {
                bytes.write(HexFormat.fromHexDigits(text, i + 1, i + 3));
                i += 2;
            } else if (whole) {
                // The lower eight bits of a character above 255, as those methods do.
                bytes.write(text.charAt(i));
            } else {
                flush(bytes, charset, plain);
                plain.append(text.charAt(i));
            }
        }
        flush(bytes, charset, plain);
        return plain.toString();
    }

    private static boolean isOctet(String text, int at) {
        return text.charAt(at) == '%'
                && at + 2 < text.length()
                && HexFormat.isHexDigit(text.charAt(at + 1))
                && HexFormat.isHexDigit(text.charAt(at + 2));
    }

    private static void flush(ByteArrayOutputStream bytes, Charset charset, StringBuilder plain) {
        try {
            plain.append(bytes.size() == 0 ? "" : bytes.toString(charset));
        } catch (RuntimeException | CoderMalfunctionError brokenDecoder) {
            // The decoder also fails for the application. The other readings still count.
            plain.append('\uFFFD');
        }
        bytes.reset();
    }
}
