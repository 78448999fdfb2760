package io.limiter.servlet.match;

import io.limiter.config.HttpSettings.MethodOverride;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A CORS preflight: a browser sends it by itself, and the page that is limited can't prevent it. It is the one request
 * that a rule without methods does not count, so everything is compared as it was sent. Normalising (case, spaces, a
 * claimed method) may make a request count and never exempts one: {@code options} is another method than
 * {@code OPTIONS}, and a handler for all methods serves it.
 */
final class Preflight {
    /**
     * Fields of requests with a body, with credentials or for another protocol. The CORS-preflight fetch of the Fetch
     * standard sets none of them, and no browser adds one. TE is not listed, because Firefox sends it over HTTP/2.
     */
    private static final List<String> NEVER_SENT = List.of(
            "Transfer-Encoding",
            "Content-Type",
            "Content-Encoding",
            "Expect",
            "Cookie",
            "Authorization",
            "Proxy-Authorization",
            "Upgrade");

    private Preflight() {}

    /**
     * Whether the request is one as browsers send it: without body and without credentials (Fetch, section 4.8). Over
     * HTTP/2 and HTTP/3 a body needs no field, so one without {@code Content-Length} and {@code Content-Type} is not seen.
     */
    static boolean is(HttpServletRequest request, MethodOverride mode) {
        String length = request.getHeader("Content-Length");
        return request.getMethod().equals("OPTIONS")
                && !isMissing(request.getHeader("Origin"))
                && !isMissing(request.getHeader("Access-Control-Request-Method"))
                && (length == null || length.equals("0"))
                && NEVER_SENT.stream().allMatch(name -> request.getHeader(name) == null)
                && !ClaimedMethods.areDeclared(request, mode);
    }

    private static boolean isMissing(@Nullable String text) {
        return text == null || text.isBlank();
    }
}
