package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import java.util.Optional;

/**
 * Who a request comes from, as {@link ClientAddressResolver} found it. Immutable.
 *
 * <p>Its {@link #text} is fit for a key: one text for one client, however its address was spelled. An IPv6 client is its
 * network, for a subscriber can take any address of it. Where a trusted proxy brought a malformed header, the text is
 * that of the last address that could be relied on behind a {@code !}, which no address begins with: who sends
 * nonsense shares a quota with others who do, and with nobody else.
 *
 * @param address the client's, or where the header was malformed the last one that could be relied on. IPv4-mapped
 *     addresses, and those that a NAT64 has translated, are the IPv4 addresses that they stand for. Empty when there is
 *     none.
 * @param origin where it was found
 * @param isMalformed whether the header of a trusted proxy, or what the container gives as the peer, was no address
 * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart in the {@link #text()}, 1 to 128
 */
public record ClientAddress(Optional<IpAddress> address, Origin origin, boolean isMalformed, int ipv6PrefixBits) {
    /** Where an address was found. */
    public enum Origin {
        /** It is the peer of the TCP connection. */
        PEER,
        /** A trusted proxy said so, in a header. */
        HEADER,
        /** There is none: a Unix socket, or a container that gives something else. */
        NONE
    }

    ClientAddress malformed() {
        return new ClientAddress(address, origin, true, ipv6PrefixBits);
    }

    /**
     * The text for a key, with the IPv6 prefix of the resolver: {@code 192.0.2.1}, {@code 2001:db8::/64}, {@code unknown}
     * where there is no address; behind a {@code !} when {@link #isMalformed}. At most 44 characters.
     */
    public String text() {
        return text(ipv6PrefixBits);
    }

    /**
     * The text for a key with another IPv6 prefix.
     *
     * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart, 1 to 128; with 128 the text is the
     *     address alone
     * @throws IllegalArgumentException if it is outside
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
