package io.limiter.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.limiter.http.internal.RequestLedger;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A call that is admitted. Its trailers have the quota. What it took ends when the service closes it, or else when the transport
 * reports its end; that is once, because a ledger ends what it has. The ledger is locked by itself while it is used.
 */
final class AdmittedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private final GrpcCall call;
    private final RequestLedger ledger;
    /** What was sent before the messages; guarded by the ledger. */
    private final Metadata sent = new Metadata();

    private volatile boolean isCut;
    private volatile boolean isClosed;

    AdmittedCall(ServerCall<Q, A> delegate, GrpcCall call, RequestLedger ledger) {
        super(delegate);
        this.call = call;
        this.ledger = ledger;
    }

    @Override
    public void sendHeaders(Metadata headers) {
        synchronized (ledger) {
            if (ledger.hasEnd()) {
                sent.merge(headers);
            }
        }
        if (!isCut) {
            super.sendHeaders(headers);
        }
    }

    @Override
    public void sendMessage(A message) {
        if (!isCut) {
            super.sendMessage(message);
        }
    }

    @Override
    public boolean isCancelled() {
        return isCut || super.isCancelled();
    }

    @Override
    public void close(Status status, Metadata trailers) {
        if (!isCut) {
            isClosed = true;
            end(status, trailers);
            // Those of the service may be a constant, for many calls.
            Metadata own = new Metadata();
            own.merge(trailers);
            GrpcAnswers.Fields.of(call).writeTo(own);
            super.close(status, own);
        }
    }

    /** Whether the service, or the limiter while the service runs, has closed it. */
    boolean isOver() {
        return isCut || isClosed;
    }

    /** Lets nothing of the service through any more; returns the call that is closed instead of this one. */
    ServerCall<Q, A> cut() {
        isCut = true;
        return delegate();
    }

    /** The end of the service, with its status; null if it has none, because it has failed or its client has gone: what it took is kept. */
    void end(@Nullable Status status, Metadata trailers) {
        synchronized (ledger) {
            if (status == null) {
                ledger.keep();
            }
            ledger.settle(
                    status == null ? 0 : GrpcAnswers.http(status.getCode()),
                    name -> status != null && name.equalsIgnoreCase("grpc-status")
                            ? List.of(Integer.toString(status.getCode().value()))
                            : Stream.of(sent, trailers)
                                    .flatMap(part -> GrpcRequest.lines(part, name).stream())
                                    .toList(),
                    call::attribute);
        }
    }
}
