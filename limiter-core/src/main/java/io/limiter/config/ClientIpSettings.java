package io.limiter.config;

import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the address of a client is found. Immutable. Nobody is trusted, or proxies by their addresses, or a number of
 * proxies; one header is read then, and no other.
 *
 * @param trustedProxies the networks of the proxies whose header is read
 * @param trustsUnixSocket whether a peer without an address is a proxy: a connection over a Unix socket has none
 * @param trustsEveryPeer whether everybody is a proxy, so that whoever comes says who he is
 * @param trustedHops how many proxies add to the header before it comes here, instead of their networks; 0 for none
 * @param header the header that is read: {@code X-Forwarded-For}, {@code Forwarded} (RFC 7239), or one that has the
 *     client's address alone; null when nobody is trusted
 * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart, where a rule says no other
 */
public record ClientIpSettings(
        List<IpNetwork> trustedProxies,
        boolean trustsUnixSocket,
        boolean trustsEveryPeer,
        int trustedHops,
        @Nullable String header,
        int ipv6PrefixBits) {
    /** The header that proxies add addresses to, and which is read unless another one is set. */
    public static final String X_FORWARDED_FOR = "X-Forwarded-For";

    /** The header of RFC 7239. */
    public static final String FORWARDED = "Forwarded";

    /** The most hops that are counted or walked. */
    public static final int MAX_HOPS = 32;

    /** A subscriber gets at least this much of IPv6, and can take any address of it. */
    public static final int DEFAULT_IPV6_PREFIX_BITS = 64;

    /** Shorter than this is more than one provider. */
    public static final int LEAST_IPV6_PREFIX_BITS = 32;

    /** The address of the TCP peer, and nobody is trusted. */
    public static final ClientIpSettings DEFAULT =
            new ClientIpSettings(List.of(), false, false, 0, null, DEFAULT_IPV6_PREFIX_BITS);

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");

    /**
     * Copies the networks.
     *
     * @throws IllegalArgumentException if the parts do not fit together; the message says which
     */
    public ClientIpSettings {
        trustedProxies = List.copyOf(trustedProxies);
        boolean byAddress = !trustedProxies.isEmpty() || trustsUnixSocket || trustsEveryPeer;
        if (trustsEveryPeer && (!trustedProxies.isEmpty() || trustsUnixSocket)) {
            throw new IllegalArgumentException(
                    "every peer is trusted, so the networks " + trustedProxies + " say nothing; leave one of them out");
        }
        if (trustedHops < 0 || trustedHops > MAX_HOPS) {
            throw new IllegalArgumentException(trustedHops + " hops can't be trusted; give 1 to " + MAX_HOPS);
        }
        if (byAddress && trustedHops > 0) {
            throw new IllegalArgumentException(
                    "proxies are known by their addresses or by their number, not by both; leave one of them out");
        }
        if (header == null && (byAddress || trustedHops > 0)) {
            throw new IllegalArgumentException(
                    "proxies are trusted and no header is read; give one, such as " + X_FORWARDED_FOR);
        }
        if (header != null) {
            if (!byAddress && trustedHops == 0) {
                throw new IllegalArgumentException("anybody can send the header '" + header
                        + "'; say which proxies, or how many, are trusted to set it");
            }
            if (!TOKEN.matcher(header).matches()) {
                throw new IllegalArgumentException(
                        "'" + header + "' is no name of a header; give one, such as " + X_FORWARDED_FOR);
            }
            if (trustedHops > 0 && isSingle(header)) {
                throw new IllegalArgumentException("a header such as '" + header
                        + "' holds one address and has no hops to count; give the networks of the proxies instead");
            }
        }
        checkPrefix(ipv6PrefixBits);
    }

    /**
     * Whether a header has the client's address alone, not a list of hops.
     *
     * @param header the name of a header, in any case
     */
    static boolean isSingle(String header) {
        return !header.equalsIgnoreCase(X_FORWARDED_FOR) && !header.equalsIgnoreCase(FORWARDED);
    }

    /**
     * The same prefix, when it can tell IPv6 clients apart.
     *
     * @throws IllegalArgumentException if it is outside {@value #LEAST_IPV6_PREFIX_BITS} to 128 bits
     */
    static int checkPrefix(int ipv6PrefixBits) {
        if (ipv6PrefixBits < LEAST_IPV6_PREFIX_BITS || ipv6PrefixBits > IpAddress.IPV6_BITS) {
            throw new IllegalArgumentException("an IPv6 prefix of " + ipv6PrefixBits + " bits is outside "
                    + LEAST_IPV6_PREFIX_BITS + " to " + IpAddress.IPV6_BITS + "; give 64, or 56 or 48 for a household");
        }
        return ipv6PrefixBits;
    }
}
