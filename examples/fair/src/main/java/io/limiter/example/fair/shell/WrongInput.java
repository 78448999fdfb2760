package io.limiter.example.fair.shell;

import io.limiter.BackendException;
import java.util.concurrent.CompletionException;
import org.redisson.client.RedisException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** A value that a system refuses is answered with 400 and the reason, a Redis that does not answer with 503. What the limiter denies has an advice of its own. */
@RestControllerAdvice
class WrongInput {
    private final Outage outage;

    WrongInput(Outage outage) {
        this.outage = outage;
    }

    @ExceptionHandler
    ProblemDetail wrong(IllegalArgumentException wrong) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(wrong.getMessage()));
    }

    /** Without the reason: it is for the log, not for a visitor. */
    @ExceptionHandler
    ProblemDetail unreachable(RedisException unreachable) {
        return silent(unreachable);
    }

    @ExceptionHandler
    ProblemDetail undecided(BackendException undecided) {
        return silent(undecided);
    }

    /** Of a future; its cause is the failure. */
    @ExceptionHandler
    ProblemDetail failed(CompletionException failed) {
        return silent(failed);
    }

    private ProblemDetail silent(RuntimeException failure) {
        if (!outage.isOne(failure)) {
            throw failure;
        }
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "Redis does not answer. Try again in a moment.");
    }
}
