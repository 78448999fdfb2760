package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A denial as an HTTP response: 429 (RFC 6585 section 4), or 503 when nobody could count, with Retry-After (RFC 9110
 * section 10.2.3) and a problem document (RFC 9457) of a type of draft-ietf-httpapi-ratelimit-headers-10.
 */
final class Rejection {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitFilter.class);
    private static final int TOO_MANY_REQUESTS = 429;
    private static final long MICROS = 1_000_000;

    private Rejection() {}

    static void write(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (response.isCommitted()) {
            // Something before this filter has sent the answer. Adding to it would break it.
            LOG.debug("a denied request has been answered already, so no 429 is sent: {}", decision);
            return;
        }
        String body = body(decision);
        response.resetBuffer();
        // Not sendError: that would bring the request to an error page, through the filters again.
        response.setStatus(status(decision));
        if (decision.retryAfterMicros() != LimitOutcome.NEVER) {
            response.setHeader("Retry-After", Long.toString(retryAfterSeconds(decision)));
        }
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("application/problem+json");
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setContentLength(bytes.length);
        if (!request.getMethod().equals("HEAD")) {
            send(response, body, bytes);
        }
    }

    private static void send(HttpServletResponse response, String body, byte[] bytes) throws IOException {
        try {
            response.getOutputStream().write(bytes);
        } catch (IllegalStateException writerTaken) {
            // A servlet that forwarded here has asked for the writer. The text is ASCII, so any charset will do.
            response.getWriter().write(body);
        }
    }

    private static int status(Decision decision) {
        return isOutage(decision) ? HttpServletResponse.SC_SERVICE_UNAVAILABLE : TOO_MANY_REQUESTS;
    }

    private static boolean isOutage(Decision decision) {
        return decision.source() == Decision.Source.FAILED_CLOSED;
    }

    /** Rounded up: who comes back when this has passed must not be too early. */
    private static long retryAfterSeconds(Decision decision) {
        return Math.max(1, (decision.retryAfterMicros() + MICROS - 1) / MICROS);
    }

    private static String body(Decision decision) {
        boolean outage = isOutage(decision);
        List<String> names = outage
                ? decision.charges().stream()
                        .map(charge -> charge.policy().name())
                        .distinct()
                        .toList()
                : decision.violated().stream()
                        .map(outcome -> String.valueOf(outcome.limit().name()))
                        .distinct()
                        .toList();
        StringBuilder json = new StringBuilder(256);
        json.append("{\"type\":\"https://iana.org/assignments/http-problem-types#")
                .append(outage ? "temporary-reduced-capacity" : "quota-exceeded")
                .append("\",\"title\":\"")
                .append(outage ? "Temporary Reduced Capacity" : "Quota Exceeded")
                .append("\",\"status\":")
                .append(status(decision))
                .append(",\"detail\":\"")
                .append(detail(decision))
                .append("\",\"violated-policies\":[");
        for (int i = 0; i < names.size(); i++) {
            json.append(i == 0 ? "" : ",");
            JsonText.quote(names.get(i), json);
        }
        return json.append("]}").toString();
    }

    private static String detail(Decision decision) {
        if (decision.retryAfterMicros() == LimitOutcome.NEVER) {
            return "This request is not allowed, now or later.";
        }
        long seconds = retryAfterSeconds(decision);
        return "Try again in " + seconds + (seconds == 1 ? " second." : " seconds.");
    }
}
