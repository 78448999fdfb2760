package io.limiter.servlet.rejection;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers denied requests, instead of the standard answer. Thread-safe. Give it to the filter's constructor, or name its
 * class, which then needs a public constructor without parameters, as {@code limiter.http.rejection-handler}.
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
     * quota are set already; whatever is written here is the body. The status may be set to another one. Never called
     * for a response that is committed. {@link HttpServletResponse#sendError} works, but brings the request to an error
     * page.
     *
     * <p>The handler may answer by another page of the application, also one under the rule that denied: by a FORWARD, or by
     * an asynchronous dispatch to a path other than the denied one. An asynchronous dispatch to the denied path is a new
     * try of the request and is decided again.
     *
     * <p>When it throws and nothing is sent yet, the standard answer stands in; else what was sent is the answer. A
     * warning with the code RL-322 is logged once. The request is not let through in any case.
     */
    void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException;
}
