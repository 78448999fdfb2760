package io.limiter.spring.web;

import io.limiter.servlet.Rejections;
import io.limiter.spring.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers a request whose controller, or what it called, was denied: as the filter of limiter-servlet does, with the same status, fields and
 * body. A bean of type {@link io.limiter.servlet.RejectionHandler} writes another body. Thread-safe.
 *
 * <p>It comes before an advice without an order, so that one for all exceptions does not make 500 of it. To answer otherwise,
 * write an {@code @ExceptionHandler(RateLimitExceededException.class)}: in a controller it goes first anyway, and with one in
 * a {@code @ControllerAdvice} this class is not used at all.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 100)
public class RateLimitExceededAdvice {
    private final Rejections rejections;

    /** With these answers. */
    public RateLimitExceededAdvice(Rejections rejections) {
        this.rejections = rejections;
    }

    /** Writes the answer; where one has begun already, the exception goes on to the container, which breaks it off. */
    @ExceptionHandler
    public void answer(RateLimitExceededException exception, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (response.isCommitted()) {
            // The client has half an answer; the container must not end it as if it were whole.
            throw exception;
        }
        rejections.write(exception.decision(), request, response);
    }
}
