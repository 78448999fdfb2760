package io.limiter.servlet.rejection;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers denied requests, instead of the standard answer. Thread-safe. Pass it to the filter's builder, or set {@code
 * limiter.http.rejection-handler} to its class, which then needs a public constructor without parameters.
 *
 * <pre>{@code
 * RejectionHandler handler = (rejection, request, response) -> {
 *     if (request.getServletPath().startsWith("/api")) {
 *         rejection.writeTo(request, response);
 *     } else {
 *         response.setContentType("text/html;charset=utf-8");
 *         response.getWriter().write("<h1>Slow down</h1>");
 *     }
 * };
 * }</pre>
 */
@FunctionalInterface
public interface RejectionHandler {
    /**
     * Answers a denied request. The status, {@code Retry-After}, {@code Cache-Control: no-store} and the fields of the
     * quota are set already; the handler writes the body. It may change the status. Never called for a committed
     * response. {@link HttpServletResponse#sendError} works, but dispatches the request to an error page.
     *
     * <p>The handler may answer with another page of the application, even one that the denying rule matches: by a
     * FORWARD, or by
     * an asynchronous dispatch to a path other than the denied one. An asynchronous dispatch to the denied path is a new
     * try of the request and is decided again.
     *
     * <p>If it throws and nothing is sent yet, the standard answer is sent; otherwise the answer is what was sent. A
     * warning with the code RL-322 is logged once an hour. The request is never admitted.
     */
    void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException;
}
