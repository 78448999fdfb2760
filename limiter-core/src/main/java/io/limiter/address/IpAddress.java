package io.limiter.address;

import org.jspecify.annotations.Nullable;

/**
 * An IPv4 or IPv6 address. Immutable.
 *
 * <p>Only literals are read: {@code 192.0.2.1} as four decimal numbers without leading zeros (RFC 3986 section 3.2.2), and
 * IPv6 as RFC 4291 section 2.2 writes it. {@link java.net.InetAddress#getByName} would look up any other text in DNS,
 * take {@code 010.0.0.1} for one address where another stack takes it for a second one, and the empty text
 * for 127.0.0.1.
 */
public final class IpAddress {
    /** The bits of an IPv4 address. */
    public static final int IPV4_BITS = 32;

    /** The bits of an IPv6 address. */
    public static final int IPV6_BITS = 128;

    /** The longest literal, in characters: {@code 0000:0000:0000:0000:0000:ffff:255.255.255.255}. */
    private static final int MAX_LITERAL = 45;

    private static final int GROUPS = 8;
    private static final long LOW_32 = 0xFFFF_FFFFL;
    private static final long MAPPED = 0xFFFFL << 32;
    private static final long NAT64 = 0x0064_FF9BL << 32;

    private final boolean ipv4;
    private final long high;
    private final long low;
    /** The text, if it is known already. */
    private final @Nullable String text;

    private IpAddress(boolean ipv4, long high, long low, @Nullable String text) {
        this.ipv4 = ipv4;
        this.high = high;
        this.low = low;
        this.text = text;
    }

    /**
     * Parses a literal; null if the text is not one. No spaces, brackets, port or zone are allowed.
     */
    public static @Nullable IpAddress parse(String text) {
        if (text.length() > MAX_LITERAL) {
            return null;
        }
        int tail = text.lastIndexOf(':') + 1;
        boolean endsInIpv4 = text.indexOf('.', tail) >= 0;
        long bits = endsInIpv4 ? ipv4(text, tail) : 0;
        if (bits < 0 || tail == 0) {
            // An IPv4 address has one spelling.
            return endsInIpv4 && bits >= 0 ? new IpAddress(true, 0, bits, text) : null;
        }
        return ipv6(
                endsInIpv4
                        ? text.substring(0, tail) + Long.toHexString(bits >> 16) + ":" + Long.toHexString(bits & 0xFFFF)
                        : text);
    }

    /** The bits of the IPv4 address from there to the end; -1 if it is not one. */
    private static long ipv4(String text, int from) {
        long bits = 0;
        int octets = 0;
        int octet = -1;
        for (int i = from; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : '.';
            if (c == '.' && octet >= 0) {
                bits = bits << 8 | octet;
                octets++;
                octet = -1;
            } else if (c < '0' || c > '9' || octet == 0) {
                return -1;
            } else {
                octet = Math.max(octet, 0) * 10 + c - '0';
                if (octet > 255) {
                    return -1;
                }
            }
        }
        return octets == 4 ? bits : -1;
    }

    private static @Nullable IpAddress ipv6(String text) {
        int[] groups = new int[GROUPS];
        int count = 0;
        int gap = -1;
        for (int at = 0; at < text.length(); count++) {
            if (gap < 0 && text.startsWith("::", at)) {
                gap = count;
                at += 2;
                if (at == text.length()) {
                    break;
                }
            } else if (count > 0 && text.charAt(at++) != ':') {
                return null;
            }
            int end = at;
            while (end < text.length() && end < at + 4 && isHex(text.charAt(end))) {
                end++;
            }
            if (end == at || count == GROUPS) {
                return null;
            }
            groups[count] = Integer.parseInt(text, at, end, 16);
            at = end;
        }
        // RFC 4291: "::" replaces at least one group.
        if (gap < 0 ? count != GROUPS : count == GROUPS) {
            return null;
        }
        long[] halves = new long[2];
        int zeros = GROUPS - count;
        for (int i = 0; i < GROUPS; i++) {
            int group = gap < 0 || i < gap ? groups[i] : i < gap + zeros ? 0 : groups[i - zeros];
            halves[i / (GROUPS / 2)] = halves[i / (GROUPS / 2)] << 16 | group;
        }
        return new IpAddress(false, halves[0], halves[1], null);
    }

    private static boolean isHex(char c) {
        return c < 128 && Character.digit(c, 16) >= 0;
    }

    /** Whether it is an IPv4 address. An IPv4-mapped one ({@code ::ffff:192.0.2.1}) is not, until {@link #unmapped}. */
    public boolean isIpv4() {
        return ipv4;
    }

    /** How many bits it has: {@value #IPV4_BITS} or {@value #IPV6_BITS}. */
    public int bits() {
        return ipv4 ? IPV4_BITS : IPV6_BITS;
    }

    /** Whether it is {@code 0.0.0.0} or {@code ::}, which no client has (RFC 4291 section 2.5.2). */
    public boolean isUnspecified() {
        return high == 0 && low == 0;
    }

    /** The IPv4 address of an IPv4-mapped one, {@code ::ffff:0:0/96} (RFC 4291 section 2.5.5.2); else itself. */
    public IpAddress unmapped() {
        return !ipv4 && high == 0 && (low & ~LOW_32) == MAPPED ? new IpAddress(true, 0, low & LOW_32, null) : this;
    }

    /** The IPv4 address of one that a NAT64 has translated, {@code 64:ff9b::/96} (RFC 6052); else itself. */
    public IpAddress untranslated() {
        return !ipv4 && high == NAT64 && (low & ~LOW_32) == 0 ? new IpAddress(true, 0, low, null) : this;
    }

    /**
     * The first address of its network: the bits after the prefix are 0.
     *
     * @param prefixBits the length of the prefix, 0 to {@link #bits}
     * @throws IllegalArgumentException if it has fewer bits
     */
    public IpAddress masked(int prefixBits) {
        if (prefixBits < 0 || prefixBits > bits()) {
            throw new IllegalArgumentException(
                    "a prefix of " + prefixBits + " bits: " + this + " has 0 to " + bits() + " of them");
        }
        int before = ipv4 ? prefixBits + IPV6_BITS - IPV4_BITS : prefixBits;
        return new IpAddress(ipv4, high & ones(before), low & ones(before - 64), null);
    }

    /** Whether both are of one family and begin with the same bits. */
    boolean beginsLike(IpAddress other, int prefixBits) {
        int before = ipv4 ? prefixBits + IPV6_BITS - IPV4_BITS : prefixBits;
        return ipv4 == other.ipv4
                && ((high ^ other.high) & ones(before)) == 0
                && ((low ^ other.low) & ones(before - 64)) == 0;
    }

    /** A long whose first bits are 1. */
    private static long ones(int bits) {
        return bits <= 0 ? 0 : bits >= 64 ? -1 : -1L << (64 - bits);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IpAddress that && ipv4 == that.ipv4 && high == that.high && low == that.low;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(high * 31 + low) + (ipv4 ? 1 : 0);
    }

    /** The one text of this address: four decimal numbers, or as RFC 5952 section 4 writes IPv6. */
    @Override
    public String toString() {
        if (text != null) {
            return text;
        }
        StringBuilder written = new StringBuilder(MAX_LITERAL);
        if (ipv4) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                written.append(low >> shift & 255).append(shift == 0 ? "" : ".");
            }
            return written.toString();
        }
        // The first of the longest runs of at least two groups of zeros.
        int gap = -1;
        int longest = 1;
        for (int i = 0, zeros = 0; i < GROUPS; i++) {
            zeros = group(i) == 0 ? zeros + 1 : 0;
            if (zeros > longest) {
                longest = zeros;
                gap = i + 1 - zeros;
            }
        }
        for (int i = 0; i < GROUPS; i++) {
            if (i == gap) {
                written.append("::");
                i += longest - 1;
            } else {
                boolean first = i == 0 || (gap >= 0 && i == gap + longest);
                written.append(first ? "" : ":").append(Integer.toHexString(group(i)));
            }
        }
        return written.toString();
    }

    private int group(int index) {
        int shift = (GROUPS / 2 - 1 - index % (GROUPS / 2)) * 16;
        return (int) ((index < GROUPS / 2 ? high : low) >>> shift) & 0xFFFF;
    }
}
