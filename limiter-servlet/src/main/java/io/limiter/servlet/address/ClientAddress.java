package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who a request comes from, as {@link ClientAddressResolver} found it. Immutable.
 *
 * <p>Its {@link #text} is fit for a key: one text for one client, however its address was spelled. An IPv6 client is its
 * network, for a subscriber can take any address of it. Where a trusted proxy brought a malformed header, the text is
 * that of the last address that could be relied on behind a {@code !}, which no address begins with: who sends
 * nonsense shares a quota with others who do, and with nobody else.
 */
public final class ClientAddress {
    /** Where an address was found. */
    public enum Origin {
        /** It is the peer of the TCP connection. */
        PEER,
        /** A trusted proxy said so, in a header. */
        HEADER,
        /** There is none: a Unix socket, or a container that gives something else. */
        NONE
    }

    private final @Nullable IpAddress address;
    private final Origin origin;
    private final boolean malformed;
    private final int ipv6PrefixBits;

    ClientAddress(@Nullable IpAddress address, Origin origin, boolean malformed, int ipv6PrefixBits) {
        this.address = address;
        this.origin = origin;
        this.malformed = malformed;
        this.ipv6PrefixBits = ipv6PrefixBits;
    }

    ClientAddress malformed() {
        return new ClientAddress(address, origin, true, ipv6PrefixBits);
    }

    /**
     * The address: the client's, or where the header was malformed the last one that could be relied on. IPv4-mapped
     * addresses, and those that a NAT64 has translated, are the IPv4 addresses that they stand for. Empty when there is
     * none.
     */
    public Optional<IpAddress> address() {
        return Optional.ofNullable(address).map(ClientAddress::plain);
    }

    /** Where it was found. */
    public Origin origin() {
        return origin;
    }

    /** Whether the header of a trusted proxy, or what the container gives as the peer, was no address. */
    public boolean isMalformed() {
        return malformed;
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
        String text = address == null ? "unknown" : text(plain(address), ipv6PrefixBits);
        return malformed ? "!" + text : text;
    }

    private static String text(IpAddress address, int ipv6PrefixBits) {
        return address.isIpv4() || ipv6PrefixBits == IpAddress.IPV6_BITS
                ? address.toString()
                : address.masked(ipv6PrefixBits) + "/" + ipv6PrefixBits;
    }

    private static IpAddress plain(IpAddress address) {
        return address.unmapped().untranslated();
    }

    /** Of one address, origin and kind; the prefix is how it is shown. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ClientAddress that
                && origin == that.origin
                && malformed == that.malformed
                && address().equals(that.address());
    }

    @Override
    public int hashCode() {
        return Objects.hash(address(), origin, malformed);
    }

    /** The {@link #text()}. */
    @Override
    public String toString() {
        return text();
    }
}
