package io.limiter.internal.config;

import io.limiter.address.IpNetwork;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the address of a client is found. Immutable. Trusted are no peers, proxies by their addresses, or a number of
 * proxies; then exactly one header is read.
 *
 * @param trustedProxies the networks of the proxies whose header is read
 * @param trustsUnixSocket whether a peer without an address is a proxy: a connection over a Unix socket has none
 * @param trustsEveryPeer whether every peer is a proxy, so that every client can claim any address
 * @param trustedHops how many proxies append to the header, as an alternative to their networks; 0 for none
 * @param header the header that is read: {@code X-Forwarded-For}, {@code Forwarded} (RFC 7239), or one that has the
 *     client's address alone; null for {@code X-Forwarded-For}, or for none if no peer is trusted
 * @param ipv6PrefixBits how many bits of an IPv6 address identify a client, unless a rule sets another number
 * @param source whose address of the peer counts
 */
public record ClientIpSettings(
        List<IpNetwork> trustedProxies,
        boolean trustsUnixSocket,
        boolean trustsEveryPeer,
        int trustedHops,
        @Nullable String header,
        int ipv6PrefixBits,
        Source source) {
    /** Whose address of the peer counts, where the container or a filter replaces it before the limiter. */
    public enum Source {
        /** The replaced address makes keys; exempt and denied addresses are compared with those of connections. */
        AUTO,
        /** The peer of the TCP connection, and the headers as they were sent: nothing that replaces them is used. */
        CONNECTION,
        /** The address that the container or the filter reports, for all purposes. */
        CONTAINER
    }

    /** The header that proxies append addresses to, and which is read by default. */
    public static final String X_FORWARDED_FOR = "X-Forwarded-For";

    /** The header of RFC 7239. */
    public static final String FORWARDED = "Forwarded";

    /** The most hops that are counted or walked. */
    public static final int MAX_HOPS = 32;

    /** A subscriber gets a network of at least this size, and can use any address in it. */
    public static final int DEFAULT_IPV6_PREFIX_BITS = 64;

    /** The address of the TCP peer; no peer is trusted. */
    public static final ClientIpSettings DEFAULT =
            new ClientIpSettings(List.of(), false, false, 0, null, DEFAULT_IPV6_PREFIX_BITS, Source.AUTO);

    private static final String HEADER = "limiter.client-ip.header";
    private static final String PROXIES = "limiter.client-ip.trusted-proxies";
    private static final String HOPS = "limiter.client-ip.trusted-hops";

    /** The settings of the properties. */
    static ClientIpSettings read(PropertyReader reader) {
        List<String> items = reader.words(PROXIES);
        boolean all = items.stream().anyMatch("all"::equalsIgnoreCase);
        boolean unix = items.stream().anyMatch("unix"::equalsIgnoreCase);
        List<IpNetwork> networks = reader.each(PROXIES, ClientIpSettings::proxies).stream()
                .flatMap(List::stream)
                .toList();
        int hops = reader.number(HOPS);
        boolean trusting = reader.has(PROXIES) || reader.has(HOPS);
        String header = reader.has(HEADER) || trusting ? reader.read(HEADER, ClientIpSettings::header) : null;
        int ipv6PrefixBits = (int) reader.number("limiter.client-ip.ipv6-prefix", DEFAULT_IPV6_PREFIX_BITS);
        Source source = reader.choice("limiter.client-ip.source", "source", Source.AUTO);
        reader.check(PROXIES, () -> networks.forEach(CallerMatcher::checkHost));
        return new ClientIpSettings(networks, unix, all, hops, header, ipv6PrefixBits, source);
    }

    private static List<IpNetwork> proxies(String text) {
        // The word all is required instead of /0, so that a mistyped prefix does not trust the whole Internet.
        Problems.refuseIf(
                text.matches("[0-9A-Fa-f:.]+/0+"),
                "'" + text + "' would trust every peer; write the networks of your proxies, or the word all if"
                        + " only they can connect");
        return text.matches("(?i)all|unix") ? List.of() : IpNetwork.named(Problems.shown(text));
    }

    private static String header(String name) {
        // Any other name would be read as a header with one address: a typing error would make every list malformed.
        String near = Suggestion.nearest(name, List.of(X_FORWARDED_FOR, FORWARDED), 2);
        Problems.refuseIf(
                near != null && !near.equalsIgnoreCase(name),
                "not a header that proxies set; did you mean '" + near + "'?");
        return name;
    }
}
