package io.limiter.servlet.match;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A parameter of the query of a request, in every way of decoding that an application may use. The body is not read: that is
 * the application's, and comes after the limit.
 */
final class QueryText {
    private final @Nullable String query;
    /** By which it may be decoded otherwise than by UTF-8; null if there is none. */
    private final @Nullable Charset charset;

    QueryText(HttpServletRequest request) {
        this.query = request.getQueryString();
        this.charset = RequestCharset.rereading(request, query);
    }

    /** Gives each value of a parameter as it was sent, until one of them is enough. */
    void forEach(String name, Predicate<String> isEnough) {
        int start = 0;
        while (query != null && start < query.length()) {
            int end = query.indexOf('&', start);
            end = end < 0 ? query.length() : end;
            // Not a search in the rest of the query: very many parameters would make that slow.
            String parameter = query.substring(start, end);
            int equals = parameter.indexOf('=');
            String written = equals < 0 ? parameter : parameter.substring(0, equals);
            if (is(name, written) && isEnough.test(equals < 0 ? "" : parameter.substring(equals + 1))) {
                return;
            }
            start = end + 1;
        }
    }

    private boolean is(String name, String written) {
        // In UTF-8 a character of 16 bits is at most nine. What is longer than that is not decoded. Other charsets have
        // sequences that mean nothing, as many as a client likes.
        return written.equals(name)
                || (written.indexOf('%') >= 0
                        && (charset != null || written.length() <= 9 * name.length())
                        && readings(written).contains(name));
    }

    /** What a value, or a name, says in any way of decoding. */
    List<String> readings(String text) {
        String spaced = text.replace('+', ' ');
        String plain = PercentText.decoded(spaced);
        return charset == null
                ? List.of(plain)
                : List.of(plain, PercentText.decoded(spaced, charset), PercentText.decodedWhole(spaced, charset));
    }
}
