package io.limiter.example.site;

import io.limiter.BackendException;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers what can't be done with problem+json (RFC 9457). What the limiter denies is answered by its own advice. */
@RestControllerAdvice
@Order(0)
class WrongInputAdvice {
    @ExceptionHandler
    ProblemDetail wrongInput(WrongInputException wrong) {
        ProblemDetail problem = problem(HttpStatus.BAD_REQUEST, String.valueOf(wrong.getMessage()));
        problem.setProperty("field", wrong.field());
        return problem;
    }

    @ExceptionHandler
    ProblemDetail unreadable(HttpMessageNotReadableException unreadable) {
        return problem(
                HttpStatus.BAD_REQUEST,
                "the body can't be read; send a JSON object whose numbers are whole, such as"
                        + " {\"permits\":10,\"periodMillis\":5000,\"burst\":10}");
    }

    @ExceptionHandler
    ProblemDetail away(BackendException away) {
        return problem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "Redis does not answer, so nothing was cleared; try again when it does");
    }

    private static ProblemDetail problem(HttpStatus status, String detail) {
        return ProblemDetail.forStatusAndDetail(status, detail);
    }
}
