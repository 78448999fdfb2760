package com.example;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

public class LimitingInterceptor implements ServerInterceptor {
    private final Limiter limiter;

    public LimitingInterceptor(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
        String client = peer instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : String.valueOf(peer);
        Decision decision = limiter.tryAcquire("rpc", PartitionKey.of(client), 1);
        if (decision.allowed()) {
            return next.startCall(call, headers);
        }
        Metadata trailers = new Metadata();
        decision.retryAfter()
                .ifPresent(wait -> trailers.put(
                        Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER),
                        Long.toString(wait.toMillis() + 1)));
        call.close(Status.RESOURCE_EXHAUSTED.withDescription("too many calls"), trailers);
        return new ServerCall.Listener<>() {};
    }
}
