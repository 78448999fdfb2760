package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.config.LimiterConfig;
import io.limiter.grpc.GrpcCall.Shared;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.Admission;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.answer.ResponseType;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes decisions to the trailers of calls. Thread-safe. */
final class GrpcAnswers {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> PUSHBACK = GrpcRequest.key("grpc-retry-pushback-ms");

    private static final ResponseType<Shared> TYPE = new ResponseType<>(
            call -> false,
            (call, status) -> {},
            call -> call.lines.clear(),
            Shared::put,
            Shared::put,
            (call, field) -> Stream.ofNullable(call.lines.get(field)).toList(),
            (call, to) -> call.lines.forEach((field, line) -> to.accept(field, List.of(line))));

    private final Answers<GrpcRejectionHandler, Shared> answers;

    GrpcAnswers(LimiterConfig config, @Nullable GrpcRejectionHandler handler) {
        this.answers = new Answers<>(config.settings().http(), TYPE, handler, Clock.systemUTC());
    }

    /** Writes the quota of a call once, though each interceptor sees its end. */
    static void write(GrpcCall call, Metadata trailers) {
        synchronized (call.shared()) {
            Map<String, String> lines = call.shared().lines;
            lines.forEach((name, line) -> trailers.put(GrpcRequest.key(name), line));
            lines.clear();
        }
    }

    /** Notes the quota after a decision about a call. */
    void note(Decision decision, GrpcCall call) {
        synchronized (call.shared()) {
            answers.tryWriteQuota(decision, call.shared().limits, call.shared());
        }
    }

    /** The status of a call that is not admitted; adds what its trailers have. */
    Status denial(Admission answer, GrpcCall call, Metadata trailers) {
        Decision decision = answer.decision();
        if (decision == null) {
            return status(answer.refusal())
                    .withDescription(answer.refusal() == 503 ? "Service unavailable." : "Not allowed.");
        }
        DenialAnswer denial;
        Metadata standardTrailers = new Metadata();
        synchronized (call.shared()) {
            denial = Objects.requireNonNull(answers.tryBegin(
                            decision,
                            call.shared().limits,
                            call.shared(),
                            (one, limits) -> new DenialAnswer(one, limits) {}))
                    .answer();
            write(call, standardTrailers);
        }
        Status standard = status(denial.status())
                .withDescription(denial.body(List.of("text/plain")).text().strip());
        long micros = decision.retryAfterMicros();
        if (micros >= 0) {
            standardTrailers.put(DETAILS, RetryInfo.of(standard, micros));
        }
        String pushback = pushback(micros);
        if (pushback != null) {
            standardTrailers.put(PUSHBACK, pushback);
        }
        GrpcRejectionHandler handler = answers.handler();
        if (handler != null) {
            try {
                Metadata own = new Metadata();
                own.merge(standardTrailers);
                Status status = handler.reject(denial, standard, own);
                if (status.isOk()) {
                    throw new IllegalStateException("a denied call has no status OK");
                }
                trailers.merge(own);
                return status;
            } catch (Throwable failure) {
                answers.logFailed(failure);
            }
        }
        trailers.merge(standardTrailers);
        return standard;
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

    /** The status for one of HTTP that only one has. */
    private static Status status(int http) {
        return Stream.of(Status.Code.values())
                .filter(code -> http(code) == http)
                .findFirst()
                .orElse(Status.Code.UNKNOWN)
                .toStatus();
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
