package io.limiter.servlet.rejection;

import io.limiter.Decision;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;

/**
 * A denial of a servlet request in HTTP: 429 (RFC 6585 section 4), or 503 if nothing could be counted, with Retry-After
 * (RFC 9110 section 10.2.3). The quota fields are already set on the response. Immutable.
 */
public final class Rejection extends DenialAnswer {
    Rejection(Decision denial, LimitsInAnswer limits) {
        super(denial, limits);
    }

    /**
     * Writes the standard body: a problem document (RFC 9457) of a type of draft-ietf-httpapi-ratelimit-headers-10, or
     * plain text or a small HTML page if the request prefers it. For a HEAD request only its length. Call it last: it
     * sends the response.
     */
    public void writeTo(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Enumeration<String> accept = request.getHeaders("Accept");
        send(request, response, body(accept == null ? null : Collections.list(accept)));
    }

    /** Sends a body of ASCII; for a HEAD request only its length. */
    static void send(HttpServletRequest request, HttpServletResponse response, Body body) throws IOException {
        byte[] bytes = body.text().getBytes(StandardCharsets.US_ASCII);
        response.setContentType(body.contentType());
        response.setContentLength(bytes.length);
        if (request.getMethod().equals("HEAD")) {
            return;
        }
        try {
            response.getOutputStream().write(bytes);
        } catch (IllegalStateException writerTaken) {
            // A servlet that forwarded here has called getWriter. The text is ASCII, so any charset is fine.
            response.getWriter().write(body.text());
        }
    }
}
