package io.limiter.example.site;

import io.limiter.BackendException;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.HandlerMethod;

/** Answers invalid requests with problem+json (RFC 9457). The limiter's own advice answers denied ones. */
@RestControllerAdvice
@Order(0)
class WrongInputAdvice {
    @ExceptionHandler
    ProblemDetail wrongInput(WrongInputException wrong) {
        ProblemDetail problem = problem(HttpStatus.BAD_REQUEST, String.valueOf(wrong.getMessage()));
        problem.setProperty("field", wrong.field());
        return problem;
    }

    /** No JSON, JSON of another shape, or nothing at all. */
    @ExceptionHandler
    ProblemDetail unreadable(
            HttpMessageNotReadableException unreadable, HandlerMethod called, HttpServletRequest request) {
        // SmallBodies admits only bodies with a length.
        String wrong = request.getContentLengthLong() > 0 ? "the body can't be read" : "the body is missing";
        return problem(HttpStatus.BAD_REQUEST, wrong + "; send " + expectedBy(called));
    }

    /** A body that is not declared as JSON, as curl -d and forms send it. */
    @ExceptionHandler
    ResponseEntity<ProblemDetail> noJson(HttpMediaTypeNotSupportedException unsupported, HandlerMethod called) {
        HttpStatus status = HttpStatus.UNSUPPORTED_MEDIA_TYPE;
        MediaType type = unsupported.getContentType();
        String wrong = type == null
                ? "Content-Type is missing"
                : "Content-Type is " + Shown.of(type.getType() + "/" + type.getSubtype());
        return ResponseEntity.status(status)
                .headers(unsupported.getHeaders())
                .body(problem(status, wrong + "; send Content-Type: application/json, and " + expectedBy(called)));
    }

    @ExceptionHandler
    ProblemDetail away(BackendException away) {
        return problem(
                HttpStatus.SERVICE_UNAVAILABLE, "Redis does not answer, so nothing was cleared; try again later");
    }

    private static String expectedBy(HandlerMethod called) {
        ExpectedBody expected = called.getMethodAnnotation(ExpectedBody.class);
        return expected == null ? "a JSON object" : expected.value();
    }

    private static ProblemDetail problem(HttpStatus status, String detail) {
        return ProblemDetail.forStatusAndDetail(status, detail);
    }
}
