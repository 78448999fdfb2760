package io.limiter.http;

import io.limiter.address.IpAddress;
import java.util.Optional;

/**
 * The client of a request, as {@code limiter.client-ip} finds it. Immutable.
 *
 * <p>Its {@link #text} can be used in a key: one text for one client, however its address was spelled. An IPv6 client
 * is identified by its network, because a subscriber can use any address in it. If a trusted proxy sent a malformed
 * header, the text is {@code !} and the last reliable address; no address begins with {@code !}, so clients that send
 * malformed headers share a quota only with each other.
 *
 * @param address the client's or, if the header was malformed, the last reliable one. IPv4-mapped addresses, and those
 *     that a NAT64 has translated, are converted to IPv4 addresses. Empty if there is none.
 * @param origin where it was found
 * @param isMalformed whether the header of a trusted proxy, or the peer returned by the container, was not an address
 * @param ipv6PrefixBits how many bits of an IPv6 address identify a client in the {@link #text()}, 1 to 128
 */
public record ClientAddress(Optional<IpAddress> address, Origin origin, boolean isMalformed, int ipv6PrefixBits) {
    /** Where an address was found. */
    public enum Origin {
        /** It is the peer of the TCP connection. */
        PEER,
        /** It was in a header from a trusted proxy. */
        HEADER,
        /** There is none: a Unix socket, or a container that returns something else. */
        NONE
    }

    /**
     * The text for a key, with the IPv6 prefix of the resolver: {@code 192.0.2.1}, {@code 2001:db8::/64}, {@code
     * unknown} if there is no address; after a {@code !} if {@link #isMalformed}. At most 44 characters.
     */
    public String text() {
        return text(ipv6PrefixBits);
    }

    /**
     * The text for a key with another IPv6 prefix.
     *
     * @param ipv6PrefixBits how many bits of an IPv6 address identify a client, 1 to 128; with 128 the text is the
     *     address alone
     * @throws IllegalArgumentException if it is out of range
     */
    public String text(int ipv6PrefixBits) {
        if (ipv6PrefixBits < 1 || ipv6PrefixBits > IpAddress.IPV6_BITS) {
            throw new IllegalArgumentException(
                    "an IPv6 prefix of " + ipv6PrefixBits + " bits; give 1 to " + IpAddress.IPV6_BITS + ", such as 64");
        }
        String text = address.isEmpty() ? "unknown" : text(address.get(), ipv6PrefixBits);
        return isMalformed ? "!" + text : text;
    }

    private static String text(IpAddress address, int ipv6PrefixBits) {
        return address.isIpv4() || ipv6PrefixBits == IpAddress.IPV6_BITS
                ? address.toString()
                : address.masked(ipv6PrefixBits) + "/" + ipv6PrefixBits;
    }

    /** The {@link #text()}. */
    @Override
    public String toString() {
        return text();
    }
}
