package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.limiter.http.internal.answer.LimitsInAnswer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A call of gRPC: what classes that rules name, and rules in code, get instead of a request. Its attributes are what {@code
 * settle = attribute:...} and {@code count-on = attribute:...} read.
 */
public final class GrpcCall {
    private static final Context.Key<GrpcCall> CURRENT = Context.key("io.limiter.grpc.call");

    private final ServerCall<?, ?> call;
    private final Metadata headers;
    private final Map<String, Object> attributes;
    private final Quota quota;

    private GrpcCall(ServerCall<?, ?> call, Metadata headers, Map<String, Object> attributes, Quota quota) {
        this.call = call;
        this.headers = headers;
        this.attributes = attributes;
        this.quota = quota;
    }

    /** The call at an interceptor; what it has got at earlier ones is the same. */
    static GrpcCall of(ServerCall<?, ?> call, Metadata headers) {
        GrpcCall earlier = CURRENT.get();
        return earlier == null
                ? new GrpcCall(
                        call,
                        headers,
                        new ConcurrentHashMap<>(),
                        new Quota(new LimitsInAnswer(), new LinkedHashMap<>()))
                : new GrpcCall(call, headers, earlier.attributes, earlier.quota);
    }

    /** The quota in its trailers; shared by all interceptors. Locked by itself while it is used. */
    record Quota(LimitsInAnswer limits, Map<String, String> lines) {}

    /** What its trailers have of its decisions. */
    Quota quota() {
        return quota;
    }

    /** The context in which the rest of the call runs. */
    Context context() {
        return Context.current().withValue(CURRENT, this);
    }

    /** The call itself. */
    public ServerCall<?, ?> call() {
        return call;
    }

    /** The metadata that the client has sent. */
    public Metadata headers() {
        return headers;
    }

    /** An attribute; null if it is missing. {@code io.limiter.decision} is the last {@link io.limiter.Decision} about the call. */
    public @Nullable Object attribute(String name) {
        return attributes.get(name);
    }

    /** Sets an attribute: {@code GrpcCall.current().ifPresent(call -> call.set("tokens", 30))}. Before the call is closed. */
    public void set(String name, Object value) {
        attributes.put(name, value);
    }

    /** The call that the current {@link Context} belongs to; empty if the limiter has no interceptor here. */
    public static Optional<GrpcCall> current() {
        return Optional.ofNullable(CURRENT.get());
    }
}
