package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call of gRPC: what classes that rules name, and rules in code, get instead of a request. Its attributes are what {@code
 * settle = attribute:...} and {@code count-on = attribute:...} read.
 */
public final class GrpcCall {
    private static final Context.Key<GrpcCall> CURRENT = Context.key("io.limiter.grpc.call");

    private final ServerCall<?, ?> call;
    private final Metadata headers;
    private final String path;
    private final Map<String, Object> attributes;

    private GrpcCall(ServerCall<?, ?> call, Metadata headers, Map<String, Object> attributes) {
        this.call = call;
        this.headers = headers;
        this.path = "/" + call.getMethodDescriptor().getFullMethodName();
        this.attributes = attributes;
    }

    /** The call at an interceptor; it has the attributes that it had at earlier ones. */
    static GrpcCall of(ServerCall<?, ?> call, Metadata headers) {
        GrpcCall earlier = CURRENT.get();
        return new GrpcCall(call, headers, earlier == null ? new ConcurrentHashMap<>() : earlier.attributes);
    }

    /** What it has one of, for all interceptors. */
    <T> T one(Class<T> type, Supplier<T> maker) {
        return type.cast(attributes.computeIfAbsent(type.getName(), name -> maker.get()));
    }

    /** The context in which the rest of the call runs. */
    Context context() {
        return Context.current().withValue(CURRENT, this);
    }

    /** As HTTP/2 has it. */
    String path() {
        return path;
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
