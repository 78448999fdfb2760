package io.limiter.address;

import org.jspecify.annotations.Nullable;

/**
 * An IPv4 or IPv6 address. Immutable.
 *
 * <p>Only literals are read: {@code 192.0.2.1} as four decimal numbers without leading zeros (RFC 3986 section 3.2.2), and
 * IPv6 as RFC 4291 section 2.2 writes it. {@link java.net.InetAddress#getByName} would ask DNS about whatever else it
 * is given, take {@code 010.0.0.1} for one address where another stack takes it for a second one, and the empty text
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

    private IpAddress(boolean ipv4, long high, long low) {
        this.ipv4 = ipv4;
        this.high = high;
        this.low = low;
    }

    /**
     * The address that a literal means; null when the text is none. There is nothing else around it: no spaces, brackets,
     * port or zone.
     */
    public static @Nullable IpAddress parse(String text) {
        if (text.length() > MAX_LITERAL) {
            return null;
        }
        if (text.indexOf(':') >= 0) {
            return ipv6(text);
        }
        long bits = ipv4(text, 0);
        return bits < 0 ? null : new IpAddress(true, 0, bits);
    }

    /** The four numbers from an index to the end of the text; -1 when they are none. */
    private static long ipv4(String text, int from) {
        long bits = 0;
        int at = from;
        for (int octet = 0; octet < 4; octet++) {
            int start = at;
            int value = 0;
            while (at < text.length() && at - start < 3 && isDigit(text.charAt(at))) {
                value = value * 10 + text.charAt(at++) - '0';
            }
            boolean leadingZero = at - start > 1 && text.charAt(start) == '0';
            if (at == start || value > 255 || leadingZero) {
                return -1;
            }
            bits = bits << 8 | value;
            if (octet < 3 && (at == text.length() || text.charAt(at++) != '.')) {
                return -1;
            }
        }
        return at == text.length() ? bits : -1;
    }

    private static @Nullable IpAddress ipv6(String text) {
        int[] groups = new int[GROUPS];
        int count = 0;
        int gap = -1;
        int at = 0;
        if (text.startsWith("::")) {
            gap = 0;
            at = 2;
        }
        while (at < text.length()) {
            int end = groupEnd(text, at);
            if (end < text.length() && text.charAt(end) == '.') {
                long tail = count <= GROUPS - 2 ? ipv4(text, at) : -1;
                if (tail < 0) {
                    return null;
                }
                groups[count++] = (int) (tail >> 16);
                groups[count++] = (int) tail & 0xFFFF;
                at = text.length();
                break;
            }
            if (end == at || count == GROUPS) {
                return null;
            }
            groups[count++] = Integer.parseInt(text, at, end, 16);
            at = end;
            if (at == text.length()) {
                break;
            }
            if (text.charAt(at++) != ':' || at == text.length()) {
                return null;
            }
            if (text.charAt(at) == ':') {
                if (gap >= 0) {
                    return null;
                }
                gap = count;
                at++;
            }
        }
        // RFC 4291: "::" stands for at least one group.
        return gap < 0 ? (count == GROUPS ? of(groups) : null) : count < GROUPS ? of(spread(groups, count, gap)) : null;
    }

    /** Where the hexadecimal digits that begin at an index end, at most four of them. */
    private static int groupEnd(String text, int from) {
        int end = from;
        while (end < text.length() && end - from < 4 && isHex(text.charAt(end))) {
            end++;
        }
        return end;
    }

    /** With the groups behind the gap moved to the end. */
    private static int[] spread(int[] groups, int count, int gap) {
        int[] spread = new int[GROUPS];
        System.arraycopy(groups, 0, spread, 0, gap);
        System.arraycopy(groups, gap, spread, GROUPS - (count - gap), count - gap);
        return spread;
    }

    private static IpAddress of(int[] groups) {
        long high = 0;
        long low = 0;
        for (int i = 0; i < GROUPS / 2; i++) {
            high = high << 16 | groups[i];
            low = low << 16 | groups[i + GROUPS / 2];
        }
        return new IpAddress(false, high, low);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isHex(char c) {
        return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
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
        return !ipv4 && high == 0 && (low & ~LOW_32) == MAPPED ? new IpAddress(true, 0, low & LOW_32) : this;
    }

    /** The IPv4 address of one that a NAT64 has translated, {@code 64:ff9b::/96} (RFC 6052); else itself. */
    public IpAddress untranslated() {
        return !ipv4 && high == NAT64 && (low & ~LOW_32) == 0 ? new IpAddress(true, 0, low) : this;
    }

    /**
     * The first address of the network that it lies in: the bits behind the prefix are 0.
     *
     * @param prefixBits how many bits of it say the network, 0 to {@link #bits}
     * @throws IllegalArgumentException if it has not so many bits
     */
    public IpAddress masked(int prefixBits) {
        if (prefixBits < 0 || prefixBits > bits()) {
            throw new IllegalArgumentException(
                    "a prefix of " + prefixBits + " bits: " + this + " has 0 to " + bits() + " of them");
        }
        int before = ipv4 ? prefixBits + IPV6_BITS - IPV4_BITS : prefixBits;
        return new IpAddress(ipv4, high & ones(before), low & ones(before - 64));
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
        StringBuilder text = new StringBuilder(MAX_LITERAL);
        if (ipv4) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                text.append(low >> shift & 255).append(shift == 0 ? "" : ".");
            }
            return text.toString();
        }
        int gap = 0;
        int gapEnd = 0;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(end) == 0) {
                end++;
            }
            if (end - i > Math.max(1, gapEnd - gap)) {
                gap = i;
                gapEnd = end;
            }
        }
        for (int i = 0; i < GROUPS; i++) {
            if (i == gap && gapEnd > gap) {
                text.append("::");
                i = gapEnd - 1;
            } else {
                text.append(i == 0 || (i == gapEnd && gapEnd > gap) ? "" : ":").append(Integer.toHexString(group(i)));
            }
        }
        return text.toString();
    }

    private int group(int index) {
        int shift = (GROUPS / 2 - 1 - index % (GROUPS / 2)) * 16;
        return (int) ((index < GROUPS / 2 ? high : low) >>> shift) & 0xFFFF;
    }
}
