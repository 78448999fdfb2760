package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.limiter.http.internal.RequestLedger;
import io.limiter.http.internal.answer.LimitsInAnswer;
import java.util.HashMap;
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
    private final Shared shared;

    private GrpcCall(ServerCall<?, ?> call, Metadata headers, Shared shared) {
        this.call = call;
        this.headers = headers;
        this.shared = shared;
    }

    /** The call at an interceptor; what it has got at earlier ones is the same. */
    static GrpcCall of(ServerCall<?, ?> call, Metadata headers) {
        GrpcCall earlier = CURRENT.get();
        return new GrpcCall(call, headers, earlier == null ? new Shared() : earlier.shared);
    }

    /** What a call has at all interceptors. Locked by itself while its quota is used. */
    static final class Shared {
        final LimitsInAnswer limits = new LimitsInAnswer();
        /** The quota in its trailers. */
        final Map<String, String> lines = new LinkedHashMap<>();

        private final Map<String, Object> attributes = new ConcurrentHashMap<>();
        /** The ledgers of the messages that are on their way between two interceptors, by the threads that pass them on. */
        private final Map<Thread, Map<Object, RequestLedger>> passing = new ConcurrentHashMap<>(2);

        void put(String field, String line) {
            // A field for caches is no trailer.
            if (!field.equals("Cache-Control")) {
                lines.put(field, line);
            }
        }

        /**
         * The ledgers of a message that arrives: those of the interceptor that passes it on, if this thread does. Only the first
         * one that arrives gets them: another interceptor may make several of one.
         *
         * @param way through one interceptor. With its own ledger there it has had the message: this is a later one, for which
         *     the service has asked on this thread
         */
        Map<Object, RequestLedger> ledgers(Object way) {
            Map<Object, RequestLedger> passed = passing.remove(Thread.currentThread());
            return passed == null || passed.containsKey(way) ? new HashMap<>(4) : passed;
        }

        /** Passes a message on to the next interceptor, with its ledgers. */
        void pass(Map<Object, RequestLedger> ledgers, Runnable message) {
            passing.put(Thread.currentThread(), ledgers);
            try {
                message.run();
            } finally {
                passing.remove(Thread.currentThread());
            }
        }
    }

    Shared shared() {
        return shared;
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
        return shared.attributes.get(name);
    }

    /** Sets an attribute: {@code GrpcCall.current().ifPresent(call -> call.set("tokens", 30))}. Before the call is closed. */
    public void set(String name, Object value) {
        shared.attributes.put(name, value);
    }

    /** The call that the current {@link Context} belongs to; empty if the limiter has no interceptor here. */
    public static Optional<GrpcCall> current() {
        return Optional.ofNullable(CURRENT.get());
    }
}
