package io.limiter.servlet.match;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The charset by which an application may decode the path and the query of a request. Frameworks ask
 * {@code getCharacterEncoding()} for it (Spring's {@code UrlPathHelper}, Tomcat's {@code useBodyEncodingForURI}), and that
 * is what the client writes into its Content-Type.
 */
final class RequestCharset {
    private RequestCharset() {}

    /**
     * Returns the charset that the request names; ISO-8859-1, the default of the Servlet API, if it names none or one that
     * this JVM does not have. Nothing is cached, because a client can invent any number of names.
     */
    private static Charset of(HttpServletRequest request) {
        try {
            String name = request.getCharacterEncoding();
            return name == null || name.isEmpty() ? StandardCharsets.ISO_8859_1 : Charset.forName(name);
        } catch (IllegalArgumentException unsupportedOrMalformed) {
            return StandardCharsets.ISO_8859_1;
        }
    }

    /** The charset that may give a text other readings than UTF-8; null if there is none. */
    static @Nullable Charset rereading(HttpServletRequest request, @Nullable String text) {
        if (text == null || text.indexOf('%') < 0) {
            return null;
        }
        Charset charset = of(request);
        return charset.equals(StandardCharsets.UTF_8) && text.chars().allMatch(c -> c < 128) ? null : charset;
    }
}
