package io.limiter.servlet.rejection;

import io.limiter.Decision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;

/**
 * A denial, as HTTP says it: 429 (RFC 6585 section 4), or 503 when nobody could count, with Retry-After (RFC 9110
 * section 10.2.3). Immutable.
 */
public final class Rejection {
    private final DenialAnswer answer;

    Rejection(DenialAnswer answer) {
        this.answer = answer;
    }

    /** What was decided. Its numbers are those of the limits only if its source is exact. */
    public Decision decision() {
        return answer.decision();
    }

    /**
     * 429, or 503 when the backend could not answer and the policy denies then. A request that can never pass is a 429 in
     * any case: that is known without asking.
     */
    public int status() {
        return answer.status();
    }

    /** Whole seconds until the request would pass if nobody else calls, at least 1; empty when it can never pass. */
    public OptionalLong retryAfterSeconds() {
        return answer.retryAfterSeconds();
    }

    /** The names of the limits that deny, as the response fields call them; of the policies when nobody could count. */
    public List<String> violatedPolicies() {
        return answer.violated();
    }

    /**
     * Writes the standard body: a problem document (RFC 9457) of a type of draft-ietf-httpapi-ratelimit-headers-10, or
     * plain text or a small HTML page where the request would rather have it. Of a HEAD request only its length. Call it last:
     * the response is sent with it.
     */
    public void writeTo(HttpServletRequest request, HttpServletResponse response) throws IOException {
        BodyForm form = BodyForm.preferred(request.getHeaders("Accept"));
        String body = form.text.apply(answer);
        response.setContentType(form.contentType);
        byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
        response.setContentLength(bytes.length);
        if (!request.getMethod().equals("HEAD")) {
            send(response, body, bytes);
        }
    }

    /** Status and fields, all but those of the quota and of the body. */
    void setHead(HttpServletResponse response) {
        // Not sendError: that would bring the request to an error page, through the filters again.
        response.setStatus(status());
        answer.fields().forEach(response::setHeader);
    }

    private static void send(HttpServletResponse response, String body, byte[] bytes) throws IOException {
        try {
            response.getOutputStream().write(bytes);
        } catch (IllegalStateException writerTaken) {
            // A servlet that forwarded here has asked for the writer. The text is ASCII, so any charset will do.
            response.getWriter().write(body);
        }
    }
}
