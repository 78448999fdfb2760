package io.limiter.address;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A range of addresses in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3): those that begin with the same bits
 * as one of them. Immutable.
 *
 * <p>An address is compared only with networks of its own family. So an IPv4-mapped network becomes the IPv4 network
 * that it means, and addresses are unmapped before the comparison.
 *
 * @param address an address of the network, as it was written
 * @param prefixBits the length of the prefix in bits
 */
public record IpNetwork(IpAddress address, int prefixBits) {
    /** This machine: {@code loopback}. */
    public static final List<IpNetwork> LOOPBACK = parsed("127.0.0.0/8 ::1");

    /** Networks that are not routed on the Internet (RFC 1918, RFC 4193): {@code private}. */
    public static final List<IpNetwork> PRIVATE = parsed("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7");

    private static final int MAPPED_BITS = 96;

    /**
     * A network.
     *
     * @throws IllegalArgumentException if the prefix is 0 or longer than the address
     */
    public IpNetwork {
        if (prefixBits < 1 || prefixBits > address.bits()) {
            throw new IllegalArgumentException("'" + address + "/" + prefixBits + "' is not a network: "
                    + (prefixBits == 0
                            ? "/0 matches every address; write the networks that you mean"
                            : "the prefix is 1 to " + address.bits() + " bits"));
        }
    }

    /**
     * The networks of a text: those of the names {@code loopback} and {@code private}, in any case, or a network alone.
     *
     * @throws IllegalArgumentException as {@link #parse}
     */
    public static List<IpNetwork> named(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "loopback" -> LOOPBACK;
            case "private" -> PRIVATE;
            default -> List.of(parse(text));
        };
    }

    private static List<IpNetwork> parsed(String networks) {
        return Stream.of(networks.split(" ")).map(IpNetwork::parse).toList();
    }

    /**
     * The network of a text: {@code 10.0.0.0/8}, {@code 2001:db8::/32}; an address alone is a network of one address. An
     * IPv4-mapped network ({@code ::ffff:10.0.0.0/104}) is the IPv4 network that it means.
     *
     * @throws IllegalArgumentException if it is invalid, or has 0 bits, which would match every address. The message
     *     names the error and what to write
     */
    public static IpNetwork parse(String text) {
        int slash = text.indexOf('/');
        IpAddress address = IpAddress.parse(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            throw new IllegalArgumentException("'" + text + "' is not a network; write an address and the bits of its"
                    + " prefix, such as 10.0.0.0/8 or 2001:db8::/32, or an address alone (numbers, no name)");
        }
        int prefixBits = slash < 0 ? address.bits() : prefixBits(text, text.substring(slash + 1), address);
        IpAddress unmapped = address.unmapped();
        if (unmapped.equals(address)) {
            return new IpNetwork(address, prefixBits);
        }
        if (prefixBits <= MAPPED_BITS) {
            throw new IllegalArgumentException(
                    "'" + text + "' is all of IPv4" + (prefixBits < MAPPED_BITS ? " and more" : "")
                            + ": the first " + MAPPED_BITS
                            + " bits of an IPv4-mapped address only mark it as one; write the"
                            + " networks that you mean as IPv4, such as "
                            + (unmapped.isUnspecified()
                                    ? "10.0.0.0/8"
                                    : unmapped + "/" + (prefixBits >= 8 && prefixBits <= 32 ? prefixBits : 32)));
        }
        return new IpNetwork(unmapped, prefixBits - MAPPED_BITS);
    }

    private static int prefixBits(String text, String digits, IpAddress address) {
        int bits = digits.matches("0|[1-9][0-9]{0,2}") ? Integer.parseInt(digits) : -1;
        if (bits < 0 || bits > address.bits()) {
            throw new IllegalArgumentException("'" + text + "' is not a network: the prefix of an "
                    + (address.isIpv4() ? "IPv4" : "IPv6") + " address is 1 to " + address.bits()
                    + " bits; write it as a number without leading zeros");
        }
        return bits;
    }

    /** Whether it contains an address of the same family. */
    public boolean contains(IpAddress other) {
        return other.beginsLike(address, prefixBits);
    }

    /** Whether the address that was written is not the first of its network: {@code 10.0.0.1/8} is that of 10.0.0.0. */
    public boolean hasHostBits() {
        return !address.equals(address.masked(prefixBits));
    }

    /** The same network, named by its first address. */
    public IpNetwork withoutHostBits() {
        return new IpNetwork(address.masked(prefixBits), prefixBits);
    }

    /** In CIDR notation, with the address as it was written. */
    @Override
    public String toString() {
        return address + "/" + prefixBits;
    }
}
