package io.limiter.example.fair.shell;

import io.limiter.BackendException;
import java.net.ConnectException;
import org.redisson.client.RedisException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** A value that a system refuses is answered with 400 and the reason, a Redis that does not answer with 503. What the limiter denies has an advice of its own. */
@RestControllerAdvice
class WrongInput {
    @ExceptionHandler
    ProblemDetail wrong(IllegalArgumentException wrong) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(wrong.getMessage()));
    }

    @ExceptionHandler({BackendException.class, RedisException.class, ConnectException.class})
    ProblemDetail unreachable(Exception unreachable) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "Redis does not answer: " + unreachable.getMessage());
    }
}
