package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.Admission.Answer;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import io.limiter.http.internal.answer.Refusals;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes decisions to the trailers of calls. Thread-safe. */
final class GrpcAnswers {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> PUSHBACK = GrpcRequest.key("grpc-retry-pushback-ms");

    private final QuotaFields quota;
    private final @Nullable GrpcRejectionHandler handler;
    private final Refusals refusals = new Refusals();

    GrpcAnswers(LimiterConfig config, @Nullable GrpcRejectionHandler handler) {
        this.quota = new QuotaFields(config.settings().http(), Clock.systemUTC());
        this.handler = handler;
    }

    /** The quota in the trailers of one call; shared by all interceptors. Locked by itself. */
    static final class Fields {
        private final LimitsInAnswer limits = new LimitsInAnswer();
        private final Map<String, String> lines = new LinkedHashMap<>();

        static Fields of(GrpcCall call) {
            return call.one(Fields.class, Fields::new);
        }

        /** Writes them once, though each interceptor sees the end of the call. */
        synchronized void writeTo(Metadata trailers) {
            lines.forEach((name, line) -> trailers.put(GrpcRequest.key(name), line));
            lines.clear();
        }
    }

    /** Notes the quota after a decision about a call. */
    void note(Decision decision, GrpcCall call) {
        Fields fields = Fields.of(call);
        synchronized (fields) {
            quota.add(decision, fields.limits, fields.lines::put);
        }
    }

    /** The status of a call that is not admitted; adds what its trailers have. */
    Status denial(Answer answer, GrpcCall call, Metadata trailers) {
        Decision decision = answer.decision();
        if (decision == null) {
            return status(answer.refused())
                    .withDescription(answer.refused() == 503 ? "Service unavailable." : "Not allowed.");
        }
        note(decision, call);
        Fields fields = Fields.of(call);
        DenialAnswer denial;
        synchronized (fields) {
            denial = new DenialAnswer(decision, fields.limits) {};
            if (denial.retryAfterSeconds().isEmpty()) {
                // Those of an earlier rule would be read as the time to try again.
                fields.lines.keySet().removeAll(quota.promises());
            }
            fields.writeTo(trailers);
        }
        denial.retryAfterSeconds()
                .ifPresent(seconds -> trailers.put(GrpcRequest.key("Retry-After"), Long.toString(seconds)));
        String sentence = denial.body(List.of("text/plain")).text().strip();
        Status standard = status(denial.status()).withDescription(sentence);
        long micros = decision.retryAfterMicros();
        if (micros >= 0) {
            trailers.put(DETAILS, RetryInfo.of(standard, micros));
        }
        String pushback = pushback(micros);
        if (pushback != null) {
            trailers.put(PUSHBACK, pushback);
        }
        return handled(denial, standard, trailers);
    }

    private Status handled(DenialAnswer denial, Status standard, Metadata trailers) {
        if (handler == null) {
            return standard;
        }
        try {
            Status status = handler.reject(denial, standard, trailers);
            if (!status.isOk()) {
                return status;
            }
            throw new IllegalStateException("a denied call has no status OK");
        } catch (Throwable failure) {
            NamedClasses.rethrowFatal(failure);
            refusals.logFailed(handler, failure);
            return standard;
        }
    }

    /**
     * When a client with a retry policy tries again by itself (gRFC A6). A negative number is never: it would have no use, or the
     * client would wait for a denial until its deadline. Null if nobody knows, so that the client uses its own policy.
     */
    private static @Nullable String pushback(long micros) {
        Deadline deadline = Context.current().getDeadline();
        if (micros == LimitOutcome.NEVER
                || deadline != null && micros >= 0 && deadline.timeRemaining(TimeUnit.MICROSECONDS) <= micros) {
            return "-1";
        }
        return micros < 0 ? null : Long.toString((micros + 999) / 1_000);
    }

    /** The status for one of HTTP, as far as the limiter answers with it. */
    private static Status status(int http) {
        return switch (http) {
            case 403 -> Status.PERMISSION_DENIED;
            case 503 -> Status.UNAVAILABLE;
            default -> Status.RESOURCE_EXHAUSTED;
        };
    }

    /** The status of HTTP for one of gRPC, as google.rpc.Code lists them, for outcomes. */
    static int http(Status.Code code) {
        return switch (code) {
            case OK -> 200;
            case INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE -> 400;
            case UNAUTHENTICATED -> 401;
            case PERMISSION_DENIED -> 403;
            case NOT_FOUND -> 404;
            case ABORTED, ALREADY_EXISTS -> 409;
            case RESOURCE_EXHAUSTED -> 429;
            case CANCELLED -> 499;
            case UNKNOWN, INTERNAL, DATA_LOSS -> 500;
            case UNIMPLEMENTED -> 501;
            case UNAVAILABLE -> 503;
            case DEADLINE_EXCEEDED -> 504;
        };
    }
}
