package io.limiter.grpc;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.limiter.http.internal.request.Request;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A call, or a message of it, as rules read it.
 *
 * @param method POST, as HTTP/2 sends a call, or {@link #MESSAGE}
 */
record GrpcRequest(GrpcCall call, String method, @Nullable Principal user, BiPredicate<Principal, String> roles)
        implements Request {
    static final String POST = "POST";
    static final String MESSAGE = "MESSAGE";

    /** By name: those of rules and of our fields, so they are few. */
    private static final Map<String, Metadata.Key<String>> KEYS = new ConcurrentHashMap<>();

    /** A call of nobody. */
    static GrpcRequest ofNobody(GrpcCall call) {
        return new GrpcRequest(call, POST, null, (user, role) -> false);
    }

    /** The same for a message. */
    GrpcRequest ofMessage() {
        return new GrpcRequest(call, MESSAGE, user, roles);
    }

    @Override
    public String rawPath() {
        return "/" + call.call().getMethodDescriptor().getFullMethodName();
    }

    /** gRPC compares it with the names of methods as it was sent. */
    @Override
    public String path() {
        return rawPath();
    }

    @Override
    public @Nullable String query() {
        return null;
    }

    @Override
    public List<String> headers(String name) {
        return name.equalsIgnoreCase("Host") && call.call().getAuthority() != null
                ? List.of(call.call().getAuthority())
                : lines(call.headers(), name);
    }

    /** The values of a text in metadata, without the spaces around them, which HTTP ignores. */
    static List<String> lines(Metadata metadata, String name) {
        Iterable<String> values = metadata.getAll(key(name));
        List<String> lines = new ArrayList<>(0);
        if (values != null) {
            values.forEach(value -> lines.add(value.strip()));
        }
        return lines;
    }

    /**
     * A text in metadata.
     *
     * @throws IllegalArgumentException if metadata can't have a text of that name
     */
    static Metadata.Key<String> key(String name) {
        return KEYS.computeIfAbsent(name, one -> Metadata.Key.of(one, Metadata.ASCII_STRING_MARSHALLER));
    }

    /** None in this JVM, or on a Unix socket. */
    @Override
    public @Nullable String remoteAddress() {
        return call.call().getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR) instanceof InetSocketAddress peer
                        && peer.getAddress() != null
                ? peer.getAddress().getHostAddress()
                : null;
    }

    @Override
    public boolean isUserInRole(String role) {
        return user != null && roles.test(user, role);
    }

    @Override
    public @Nullable Object attribute(String name) {
        return call.attribute(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        call.set(name, value);
    }

    @Override
    public GrpcCall server() {
        return call;
    }
}
