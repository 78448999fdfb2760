package io.limiter.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.limiter.http.internal.RequestLedger;
import org.jspecify.annotations.Nullable;

/**
 * A call that is admitted. Its trailers have the quota. What it took ends when the service closes it, or else when the transport
 * reports its end; that is once, because a ledger ends what it has.
 *
 * <p>A call of gRPC is for one thread at a time, and the limiter may close it on another one than the service's. So whoever is the
 * last to leave the call closes it for the limiter. No lock is held meanwhile: a transport inside of this JVM may call the client,
 * and that another call.
 */
final class AdmittedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {
    /** How many messages may arrive before the service has got the first of them: all are kept if it waits. */
    private static final int MOST_AHEAD = 32;

    private static final Metadata.Key<String> STATUS = GrpcRequest.key("grpc-status");

    private final GrpcCall call;
    private final RequestLedger ledger;
    /** What outcomes read of the answer; guarded by the ledger. */
    private final Metadata sent = new Metadata();

    /** How many are in the call; guarded by this, as all that follow. */
    private int uses;

    private int ahead;
    /** How many messages the service has asked for, besides those ahead. */
    private int wanted;

    /** Closes the call instead of the service; null if the limiter does not. */
    private volatile @Nullable Runnable cut;

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
        use(() -> super.sendHeaders(headers));
    }

    @Override
    public void sendMessage(A message) {
        use(() -> super.sendMessage(message));
    }

    @Override
    public void close(Status status, Metadata trailers) {
        use(() -> {
            isClosed = true;
            // The client may have left, and the service have noticed before the transport told it here.
            end(status, trailers, super.isCancelled());
            // Those of the service may be a constant, for many calls.
            Metadata own = new Metadata();
            own.merge(trailers);
            GrpcAnswers.write(call, own);
            super.close(status, own);
        });
    }

    /** Uses the call, unless the limiter has closed it. */
    private void use(Runnable step) {
        synchronized (this) {
            if (isCut()) {
                return;
            }
            uses++;
        }
        try {
            step.run();
        } finally {
            leave();
        }
    }

    /**
     * Closes the call instead of the service, unless that has done it. Nothing of the service gets through any more.
     *
     * @param before runs when that is so, and before the client knows
     */
    void cut(Status status, Metadata trailers, Runnable before) {
        use(() -> {
            if (!isClosed) {
                cut = () -> delegate().close(status, trailers);
                before.run();
            }
        });
    }

    private void leave() {
        Runnable last;
        synchronized (this) {
            last = --uses > 0 || isClosed ? null : cut;
        }
        if (last != null) {
            last.run();
        }
    }

    boolean isCut() {
        return cut != null;
    }

    /** Whether the service or the limiter has closed it. */
    boolean isOver() {
        return isCut() || isClosed;
    }

    @Override
    public boolean isCancelled() {
        return isCut() || super.isCancelled();
    }

    @Override
    public void request(int count) {
        int now;
        synchronized (this) {
            wanted = (int) Math.min(Integer.MAX_VALUE, (long) wanted + count);
            now = Math.min(wanted, MOST_AHEAD - ahead);
            wanted -= now;
            ahead += now;
        }
        if (now != 0) {
            super.request(now);
        }
    }

    /** The service has got a message, so another one may arrive. */
    void noteDelivered() {
        synchronized (this) {
            ahead--;
        }
        request(0);
    }

    /**
     * The end of the service, with its status; null if it has none, because it has failed or its client has gone: what it took is
     * kept.
     *
     * @param isLeft whether its client has gone before
     */
    void end(@Nullable Status status, Metadata trailers, boolean isLeft) {
        synchronized (ledger) {
            if (!ledger.hasEnd()) {
                return;
            }
            if (isLeft) {
                ledger.leave();
            }
            sent.merge(trailers);
            sent.discardAll(STATUS);
            int code = 0;
            if (status == null) {
                ledger.keep();
            } else {
                code = GrpcAnswers.http(status.getCode());
                sent.put(STATUS, Integer.toString(status.getCode().value()));
            }
            ledger.settle(code, name -> GrpcRequest.lines(sent, name), call::attribute);
        }
    }
}
