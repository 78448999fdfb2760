package io.limiter.http.internal.address;

import io.limiter.TimeSource;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.http.ClientAddress;
import io.limiter.http.ClientAddress.Origin;
import io.limiter.http.internal.address.Hops.Form;
import io.limiter.http.internal.address.Hops.Hop;
import io.limiter.http.internal.address.ProxyWarnings.Shown;
import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.internal.config.ClientIpSettings.Source;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLogger;

/**
 * Finds the address of a client. Thread-safe; its results depend on the request alone.
 *
 * <p>Anybody can send headers that name a client, so unless a proxy is trusted the client is the peer of the TCP
 * connection. With trusted proxies, and a peer that is one of them, one header is read: all its lines, backwards from
 * the last hop, to the first address that is not a trusted proxy. A trusted proxy has reported that address; everything
 * before it is claimed by the client. If all are trusted, the client is the first of them. With a number of trusted
 * hops it is the hop that the outermost of these proxies added.
 *
 * <p>A hop that is not an address (including RFC 7239's {@code unknown} and obfuscated names) is never skipped: it ends
 * the search, and makes the result {@linkplain ClientAddress#isMalformed malformed}; so do fewer hops than are trusted,
 * more than
 * {@value ClientIpSettings#MAX_HOPS}, more than 8192 characters or 16 empty elements (up to that number they are ignored),
 * and a header for one address that was sent twice. DNS is never used, and no request causes an exception.
 *
 * <p>Sources: RFC 7239 (Forwarded), RFC 9110 section 5.3 (several lines are one list), RFC 4291 and RFC 5952 (IPv6 in
 * text), RFC 6052 (NAT64).
 */
public final class AddressResolver {
    private static final Logger LOG = LoggerFactory.getLogger(AddressResolver.class);

    /** Which headers show that a request has come through a proxy. */
    private static final List<String> FORWARDING = List.of(
            ClientIpSettings.X_FORWARDED_FOR,
            ClientIpSettings.FORWARDED,
            "X-Real-IP",
            "Via",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Forwarded-Port",
            "X-Forwarded-Server",
            "X-Original-Forwarded-For",
            "X-Client-IP",
            "X-Cluster-Client-IP",
            "X-Envoy-External-Address",
            "True-Client-IP",
            "CF-Connecting-IP",
            "Fastly-Client-IP",
            "Fly-Client-IP");

    private final ClientIpSettings settings;
    private final Source source;
    private final int ipv6PrefixBits;
    private final @Nullable String header;
    private final Form form;
    private final ProxyWarnings warnings;
    /** Peers that were there lately, by the hash of their names. A place may be overwritten at any time, by any thread. */
    private final @Nullable Peer[] peers = new @Nullable Peer[256];

    /** A peer as a client without headers of proxies. */
    private record Peer(String name, @Nullable IpAddress address, ClientAddress client) {}

    AddressResolver(ClientIpSettings settings, Logger log, TimeSource time) {
        this.settings = settings;
        this.source = settings.source();
        this.ipv6PrefixBits = settings.ipv6PrefixBits();
        this.header = settings.header();
        this.form = form(settings.header());
        this.warnings = new ProxyWarnings(log, time);
    }

    private static Form form(@Nullable String header) {
        if (header == null || header.equalsIgnoreCase(ClientIpSettings.X_FORWARDED_FOR)) {
            return Form.LIST;
        }
        return header.equalsIgnoreCase(ClientIpSettings.FORWARDED) ? Form.FORWARDED : Form.SINGLE;
    }

    /** A resolver as configured. */
    public static AddressResolver of(ClientIpSettings settings) {
        return new AddressResolver(settings, LOG, TimeSource.system());
    }

    /** What is questionable about the settings, as sentences for the log. */
    public List<String> findings() {
        return ProxyWarnings.of(settings);
    }

    /** The same, which logs nothing: for requests that no client has sent. */
    public AddressResolver silent() {
        return new AddressResolver(settings, NOPLogger.NOP_LOGGER, TimeSource.system());
    }

    /**
     * The client of a request. The peer is {@link Request#remoteAddress}, which a valve of the container or
     * an earlier filter may have set from a header; with {@link Source#CONNECTION} it is that of the TCP connection.
     */
    public ClientAddress resolve(Request request) {
        if (source == Source.CONNECTION) {
            return resolveOfConnection(request);
        }
        String reported = request.remoteAddress();
        if (source == Source.AUTO && warnings.forPeers.tryNext()) {
            String peer = request.peerAddress();
            if (peer != null && !ConnectionPeer.areSame(peer, reported)) {
                warnings.replaced(peer, reported);
            }
        }
        return resolve(reported, name -> orNone(request.headers(name)));
    }

    private ClientAddress resolveOfConnection(Request request) {
        Request received = request.received();
        String peer = request.peerAddress();
        if (peer == null) {
            warnings.once(ProxyWarnings.UNKNOWN_PEER, nameOf(received));
        } else if (request.isAddressFromHeader()) {
            warnings.once(ProxyWarnings.USED_HEADER, new Shown(peer));
            return malformed(resolve(peer, name -> List.of()));
        }
        return resolve(peer == null ? received.remoteAddress() : peer, name -> orNone(received.headers(name)));
    }

    /**
     * The peer of the TCP connection, if it is not the one that the client was found by and not a trusted proxy: to
     * deny clients that write themselves another address. Null for none.
     */
    public @Nullable IpAddress hiddenPeer(Request request) {
        String peer = source == Source.AUTO ? request.peerAddress() : null;
        IpAddress address = peer == null ? null : Node.address(peer, true);
        return address == null || isTrusted(address, true)
                ? null
                : address.unmapped().untranslated();
    }

    /** Whether the address of a client can be another one than its connection has, because something replaces it. */
    public boolean isReplaced() {
        return source == Source.CONTAINER || warnings.isLogged(ProxyWarnings.REPLACED);
    }

    /**
     * The client of a request that is not a servlet request.
     *
     * @param peer the address of the TCP peer as a literal; null or empty if there is none, on a Unix socket
     * @param headerLines all lines of the header of that (case-insensitive) name, in their order; empty if there are none
     */
    public ClientAddress resolve(@Nullable String peer, Function<String, List<String>> headerLines) {
        String name = peer == null ? "" : peer;
        boolean named = !name.isEmpty();
        Peer known = peer(name);
        IpAddress address = known.address;
        if (named && address == null) {
            warnings.onceAMinute(ProxyWarnings.NO_ADDRESS, new Shown(name));
        }
        ClientAddress direct = known.client;
        if (header == null) {
            if (!direct.isMalformed()) {
                warnings.ignored(address, headerLines);
            }
            return direct;
        }
        List<String> lines = headerLines.apply(header);
        boolean counts = settings.trustedHops() > 0;
        if (!counts && !isTrusted(address, named)) {
            if (!lines.isEmpty()) {
                warnings.once(ProxyWarnings.IGNORED, header, address);
            }
            return direct;
        }
        if (!counts && lines.isEmpty()) {
            warnings.other(header, address, headerLines);
            return direct;
        }
        return walked(header, direct, address, new Hops(form, lines));
    }

    /** What a name of a peer means. */
    private Peer peer(String name) {
        int place = name.hashCode() & peers.length - 1;
        Peer known = peers[place];
        if (known == null || !known.name.equals(name)) {
            IpAddress address = Node.address(name, true);
            boolean isWrong = address == null && !name.isEmpty();
            known = new Peer(name, address, found(address, address == null ? Origin.NONE : Origin.PEER, isWrong));
            // A name that is no address can be long, and is nobody's for long.
            peers[place] = isWrong ? null : known;
        }
        return known;
    }

    /**
     * Whether the address is certainly that of the caller, so that it can exempt the caller. A malformed or missing
     * address is not. That of the TCP peer is not if the request has a header of a proxy, because the peer may be an
     * undeclared proxy with many clients; nor if the peer is a trusted proxy, because clients can make a proxy omit its
     * header ({@code Connection: X-Forwarded-For}). Nor is any address that the container or a filter has replaced,
     * unless the configuration allows it.
     *
     * @param client what {@link #resolve(Request)} found for the request
     */
    public boolean isSure(ClientAddress client, Request request) {
        IpAddress address = client.address().orElse(null);
        if (client.isMalformed() || address == null) {
            return false;
        }
        String peer = request.peerAddress();
        boolean isReplaced =
                !ConnectionPeer.areSame(peer, source == Source.CONNECTION ? peer : request.remoteAddress());
        if (isReplaced && source != Source.CONTAINER) {
            if (peer == null) {
                warnings.once(ProxyWarnings.UNKNOWN_PEER, nameOf(request.received()));
            } else {
                warnings.replaced(peer, request.remoteAddress());
            }
            return false;
        }
        if (client.origin() == Origin.HEADER) {
            return true;
        }
        if (source != Source.CONTAINER && request.isProxyHeaderRead()) {
            warnings.once(ProxyWarnings.NOT_EXEMPT, address, "a header that RemoteIpValve has read");
            return false;
        }
        for (String name : FORWARDING) {
            // Filters hide headers that they have used.
            if (!isReplaced
                    && (request.header(name) != null || request.received().header(name) != null)) {
                warnings.once(ProxyWarnings.NOT_EXEMPT, address, name);
                return false;
            }
        }
        return !isTrusted(address, true);
    }

    private static String nameOf(Request request) {
        return request.server().getClass().getName();
    }

    /**
     * The first address from the end that is not a trusted proxy; or the hop that the outermost trusted proxy has
     * added. Hops after that one are proxies, which may use any name.
     */
    private ClientAddress walked(String name, ClientAddress direct, @Nullable IpAddress peer, Hops hops) {
        int trusted = settings.trustedHops();
        ClientAddress current = direct;
        int count = 0;
        for (Hop hop = hops.next(); hop != null; hop = hops.next()) {
            count++;
            IpAddress address = hop.address();
            boolean isProxy = count < trusted;
            boolean areTooMany = trusted == 0 && count > ClientIpSettings.MAX_HOPS;
            if (areTooMany || hop.isBroken() || (address == null && !isProxy)) {
                String why = areTooMany
                        ? "more than " + ClientIpSettings.MAX_HOPS + " hops, all of them trusted"
                        : hop.wrong();
                warnings.onceAMinute(ProxyWarnings.MALFORMED, name, peer, new Shown(hop.text()), why);
                return malformed(current);
            }
            if (!isProxy) {
                current = found(address, Origin.HEADER, false);
                if (count == trusted || form == Form.SINGLE || !isTrusted(address, true)) {
                    return current;
                }
            }
        }
        if (trusted > 0) {
            warnings.onceAMinute(ProxyWarnings.TOO_FEW_HOPS, name, peer, count, trusted);
            return malformed(direct);
        }
        return current;
    }

    private boolean isTrusted(@Nullable IpAddress address, boolean named) {
        if (address == null || settings.trustsEveryPeer()) {
            return settings.trustsEveryPeer() || (!named && settings.trustsUnixSocket());
        }
        for (IpNetwork network : settings.trustedProxies()) {
            if (network.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private ClientAddress found(@Nullable IpAddress address, Origin origin, boolean malformed) {
        IpAddress plain = address == null ? null : address.unmapped().untranslated();
        return new ClientAddress(Optional.ofNullable(plain), origin, malformed, ipv6PrefixBits);
    }

    private static ClientAddress malformed(ClientAddress client) {
        return new ClientAddress(client.address(), client.origin(), true, client.ipv6PrefixBits());
    }

    private static List<String> orNone(@Nullable List<String> lines) {
        return lines == null ? List.of() : lines;
    }
}
