package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers requests that were denied in some other place than the filter, as the filter would. Thread-safe.
 *
 * <pre>{@code
 * Rejections rejections = Rejections.of(limiter.config());
 * if (!decision.allowed()) {
 *     rejections.write(decision, request, response);
 * }
 * }</pre>
 */
public final class Rejections {
    private Rejections() {}

    /** Answers as configured. */
    public static Rejections of(LimiterConfig config) {
        return new Rejections();
    }

    /** Writes the answer to a denied request; nothing when the response is committed. */
    public void write(Decision denial, HttpServletRequest request, HttpServletResponse response) throws IOException {
        Rejection.write(denial, request, response);
    }
}
