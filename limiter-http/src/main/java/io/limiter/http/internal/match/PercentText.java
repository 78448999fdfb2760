package io.limiter.http.internal.match;

import io.limiter.http.internal.request.Request;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.CoderMalfunctionError;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Percent-encoded text (RFC 3986 section 2.1), and the parameters of a query, read without the body of the request,
 * which belongs to the application. Malformed parts stay as they are, or become U+FFFD; they are not errors.
 */
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

    /**
     * The charset by which an application may decode the path and the query of a request. Frameworks ask
     * {@code getCharacterEncoding()} for it (Spring's {@code UrlPathHelper}, Tomcat's {@code useBodyEncodingForURI}), and
     * that is what the client writes into its Content-Type.
     *
     * <p>It is the one that the request names; ISO-8859-1, the default of the Servlet API, if it names none or one that
     * this JVM does not have. Nothing is cached, because a client can invent any number of names.
     */
    private static Charset charset(Request request) {
        try {
            String name = request.charset();
            return name == null || name.isEmpty() ? StandardCharsets.ISO_8859_1 : Charset.forName(name);
        } catch (IllegalArgumentException unsupportedOrMalformed) {
            return StandardCharsets.ISO_8859_1;
        }
    }

    /** The charset that may give a text other readings than UTF-8; null if there is none. */
    static @Nullable Charset rereading(Request request, @Nullable String text) {
        if (text == null || text.indexOf('%') < 0) {
            return null;
        }
        Charset charset = charset(request);
        return charset.equals(StandardCharsets.UTF_8) && text.chars().allMatch(c -> c < 128) ? null : charset;
    }

    /**
     * Visits the parameters of a query in their order, until the visitor has found one. Name and value are encoded; the value is null if
     * there is no equals sign.
     */
    static boolean anyParameter(@Nullable String query, BiPredicate<String, @Nullable String> visitor) {
        int start = 0;
        while (query != null && start < query.length()) {
            int end = query.indexOf('&', start);
            end = end < 0 ? query.length() : end;
            // Not a search in the rest of the query: very many parameters would make that slow.
            String one = query.substring(start, end);
            int equals = one.indexOf('=');
            if (visitor.test(
                    equals < 0 ? one : one.substring(0, equals), equals < 0 ? null : one.substring(equals + 1))) {
                return true;
            }
            start = end + 1;
        }
        return false;
    }

    /** Whether an encoded parameter can have this name. */
    static boolean isNamed(String name, String written, @Nullable Charset charset) {
        // In UTF-8 a character of 16 bits has at most nine encoded ones. Longer names are not decoded. Other charsets
        // have any number of sequences without meaning.
        return written.equals(name)
                || (written.indexOf('%') >= 0
                        && (charset != null || written.length() <= 9 * name.length())
                        && readings(written, charset).contains(name));
    }

    /** The text in every way of decoding. */
    static List<String> readings(String text, @Nullable Charset charset) {
        String plain = decoded(text);
        return charset == null ? List.of(plain) : List.of(plain, decoded(text, charset), decodedWhole(text, charset));
    }
}
