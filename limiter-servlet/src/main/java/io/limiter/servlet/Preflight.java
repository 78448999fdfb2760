package io.limiter.servlet;

import io.limiter.config.HttpSettings.MethodOverride;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * A CORS preflight: a browser sends it by itself, and the page that is limited can't prevent it. It is the one request
 * that a rule without methods does not count, so everything is compared as it was sent. Normalising (case, spaces, a
 * claimed method) may make a request count and never exempts one: {@code options} is another method than
 * {@code OPTIONS}, and a handler for all methods serves it.
 */
final class Preflight {
    private Preflight() {}

    /** Whether the request is one as browsers send it: without body and without credentials (Fetch, section 4.8). */
    static boolean is(HttpServletRequest request, MethodOverride mode) {
        String length = request.getHeader("Content-Length");
        return request.getMethod().equals("OPTIONS")
                && !isMissing(request.getHeader("Origin"))
                && !isMissing(request.getHeader("Access-Control-Request-Method"))
                && (length == null || length.equals("0"))
                && request.getHeader("Transfer-Encoding") == null
                && request.getHeader("Cookie") == null
                && request.getHeader("Authorization") == null
                && !ClaimedMethods.areDeclared(request, mode);
    }

    private static boolean isMissing(@Nullable String text) {
        return text == null || text.isBlank();
    }
}
