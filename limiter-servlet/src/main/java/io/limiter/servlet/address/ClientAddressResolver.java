package io.limiter.servlet.address;

import io.limiter.config.LimiterConfig;
import io.limiter.http.ClientAddress;
import io.limiter.http.internal.address.AddressResolver;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the address of a client. Thread-safe; its results depend on the request alone.
 *
 * <pre>{@code
 * ClientAddressResolver resolver = ClientAddressResolver.of(limiter.config());
 * PartitionKey key = PartitionKey.of(resolver.resolve(request).text());
 * }</pre>
 *
 * <p>Anybody can send headers that name a client, so unless {@code limiter.client-ip} trusts a proxy the client is the peer
 * of the TCP connection. DNS is never used, and no request causes an exception.
 */
public final class ClientAddressResolver {
    /**
     * The name of a request attribute with the address of the TCP peer as a text, for containers that the limiter does
     * not know, and for tests. Set it before the limiter's filter.
     */
    public static final String PEER = ServletHttpRequest.PEER;

    private final AddressResolver addresses;

    private ClientAddressResolver(AddressResolver addresses) {
        this.addresses = addresses;
    }

    /** A resolver as configured. */
    public static ClientAddressResolver of(LimiterConfig config) {
        return of(config.settings().clientIp());
    }

    /** A resolver of these settings. */
    public static ClientAddressResolver of(ClientIpSettings settings) {
        return new ClientAddressResolver(AddressResolver.of(settings));
    }

    /** What is questionable about the settings, as sentences for the log. */
    public List<String> findings() {
        return addresses.findings();
    }

    /**
     * The client of a request. The peer is {@link HttpServletRequest#getRemoteAddr}, which a valve of the container or
     * an earlier filter may have set from a header; with {@code limiter.client-ip.source = connection} it is that of the
     * TCP connection.
     */
    public ClientAddress resolve(HttpServletRequest request) {
        return addresses.resolve(new ServletHttpRequest(request));
    }

    /**
     * The client of a request that is not a servlet request.
     *
     * @param peer the address of the TCP peer as a literal; null or empty if there is none, on a Unix socket
     * @param headerLines all lines of the header of that (case-insensitive) name, in their order; empty if there are none
     */
    public ClientAddress resolve(@Nullable String peer, Function<String, List<String>> headerLines) {
        return addresses.resolve(peer, headerLines);
    }
}
