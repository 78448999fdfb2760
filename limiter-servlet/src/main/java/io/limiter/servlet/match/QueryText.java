package io.limiter.servlet.match;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The parameters of a query, read without the body of the request, which belongs to the application. */
final class QueryText {
    private QueryText() {}

    /** Visits one parameter; name and value are encoded. */
    @FunctionalInterface
    interface Parameter {
        /** Whether to end the search here. The value is null if there is no equals sign. */
        boolean isFound(String name, @Nullable String value);
    }

    /**
     * The queries with parameters for the application: a FORWARD or ASYNC dispatch may have its own query, in addition
     * to that of the request.
     */
    static List<String> of(HttpServletRequest request) {
        return Stream.of(
                        request.getQueryString(),
                        request.getAttribute(RequestDispatcher.FORWARD_QUERY_STRING),
                        request.getAttribute(AsyncContext.ASYNC_QUERY_STRING))
                .filter(Objects::nonNull)
                .map(String::valueOf)
                .distinct()
                .toList();
    }

    /** Visits the parameters of a query in their order. */
    static boolean any(@Nullable String query, Parameter parameter) {
        int start = 0;
        while (query != null && start < query.length()) {
            int end = query.indexOf('&', start);
            end = end < 0 ? query.length() : end;
            // Not a search in the rest of the query: very many parameters would make that slow.
            String one = query.substring(start, end);
            int equals = one.indexOf('=');
            if (parameter.isFound(
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
        String plain = PercentText.decoded(text);
        return charset == null
                ? List.of(plain)
                : List.of(plain, PercentText.decoded(text, charset), PercentText.decodedWhole(text, charset));
    }
}
