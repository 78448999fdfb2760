package io.limiter.grpc;

import io.grpc.Metadata;
import io.grpc.Status;
import io.limiter.http.DenialAnswer;

/** Answers denied calls, instead of the standard answer. Thread-safe. In Spring, define it as a bean. */
@FunctionalInterface
public interface GrpcRejectionHandler {
    /**
     * Returns the status of a denied call. A call is never admitted: if the handler fails, or returns OK, the standard answer is
     * sent, and a warning with the code RL-322 is logged once an hour.
     *
     * @param standard {@code RESOURCE_EXHAUSTED}, or {@code UNAVAILABLE} if the limits can't be counted, with a sentence
     * @param trailers with the fields of the quota and {@code google.rpc.RetryInfo}; the handler may add some
     */
    Status reject(DenialAnswer denial, Status standard, Metadata trailers);
}
