package io.limiter.servlet.rejection;

import io.limiter.Decision;
import io.limiter.servlet.quota.LimitsInAnswer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A denial of a servlet request, as HTTP says it: 429 (RFC 6585 section 4), or 503 when nobody could count, with
 * Retry-After (RFC 9110 section 10.2.3). The fields of the quota are on the response already. Immutable.
 */
public final class Rejection extends DenialAnswer {
    Rejection(Decision denial, LimitsInAnswer limits) {
        super(denial, limits, Map.of(), "");
    }

    /**
     * Writes the standard body: a problem document (RFC 9457) of a type of draft-ietf-httpapi-ratelimit-headers-10, or
     * plain text or a small HTML page where the request would rather have it. Of a HEAD request only its length. Call it last:
     * the response is sent with it.
     */
    public void writeTo(HttpServletRequest request, HttpServletResponse response) throws IOException {
        BodyForm form = BodyForm.preferred(request.getHeaders("Accept"));
        response.setContentType(form.contentType);
        send(request, response, form.text.apply(this));
    }

    /** Status and fields, all but those of the quota and of the body. */
    void setHead(HttpServletResponse response) {
        // Not sendError: that would bring the request to an error page, through the filters again.
        response.setStatus(status());
        fields().forEach(response::setHeader);
    }

    /** Sends a body of ASCII; of a HEAD request only its length. */
    static void send(HttpServletRequest request, HttpServletResponse response, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
        response.setContentLength(bytes.length);
        if (request.getMethod().equals("HEAD")) {
            return;
        }
        try {
            response.getOutputStream().write(bytes);
        } catch (IllegalStateException writerTaken) {
            // A servlet that forwarded here has asked for the writer. The text is ASCII, so any charset will do.
            response.getWriter().write(body);
        }
    }
}
