package io.limiter.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import inet.ipaddr.AddressStringParameters.RangeParameters;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IPAddressStringParameters;
import inet.ipaddr.ipv4.IPv4AddressStringParameters;
import inet.ipaddr.ipv6.IPv6Address;
import inet.ipaddr.ipv6.IPv6AddressStringParameters;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A library that others wrote, in its strict mode, understands random literals, prefixes and networks as we do. */
class SecondOpinionTest {
    private static final int CASES = 10_000;

    private static final IPAddressStringParameters STRICT = strict();

    private final Random random = new Random(20_261_121);

    /** All that the library accepts beyond RFC 4291 and four decimal numbers is switched off. */
    private static IPAddressStringParameters strict() {
        IPAddressStringParameters.Builder strict = new IPAddressStringParameters.Builder()
                .allowAll(false)
                .allowEmpty(false)
                .allowMask(false)
                .allowPrefix(false)
                .allowSingleSegment(false)
                .allowWildcardedSeparator(false)
                .setRangeOptions(RangeParameters.NO_RANGE);
        IPv6AddressStringParameters.Builder ipv6 = strict.getIPv6AddressParametersBuilder();
        ipv6.allowZone(false)
                .allowEmptyZone(false)
                .allowBase85(false)
                .allowBinary(false)
                .allowLeadingZeros(true)
                .allowUnlimitedLeadingZeros(false)
                .allowMixed(true)
                .allow_mixed_inet_aton(false);
        for (IPv4AddressStringParameters.Builder ipv4 :
                List.of(strict.getIPv4AddressParametersBuilder(), ipv6.getEmbeddedIPv4AddressParametersBuilder())) {
            ipv4.allow_inet_aton(false)
                    .allowLeadingZeros(false)
                    .allowUnlimitedLeadingZeros(false)
                    .allowBinary(false);
        }
        return strict.toParams();
    }

    @Test
    void onLiterals() {
        int valid = 0;
        for (int i = 0; i < CASES; i++) {
            String literal = random.nextBoolean() ? literal() : broken(literal());
            IpAddress ours = IpAddress.parse(literal);
            IPAddress theirs = new IPAddressString(literal, STRICT).getAddress();
            assertEquals(theirs == null ? null : hex(theirs), ours == null ? null : hex(ours), literal);
            if (theirs != null) {
                valid++;
                assertEquals(theirs.toCanonicalString(), ours.toString(), literal);
            }
        }
        assertTrue(valid > CASES / 2 && valid < CASES * 9 / 10, valid + " valid ones");
    }

    @Test
    void onPrefixes() {
        for (int i = 0; i < CASES; i++) {
            String literal = literal();
            IpAddress ours = IpAddress.parse(literal);
            int prefixBits = random.nextInt(ours.bits() + 1);
            IPAddress theirs = new IPAddressString(literal, STRICT)
                    .getAddress()
                    .setPrefixLength(prefixBits, false)
                    .toZeroHost()
                    .withoutPrefixLength();
            assertEquals(hex(theirs), hex(ours.masked(prefixBits)), literal + "/" + prefixBits);
        }
    }

    @Test
    void onNetworks() {
        int inside = 0;
        for (int i = 0; i < CASES; i++) {
            String literal = literal();
            while (!IpAddress.parse(literal).unmapped().equals(IpAddress.parse(literal))) {
                literal = literal(); // a mapped network becomes one of IPv4 here, and stays what it is there
            }
            IpAddress address = IpAddress.parse(literal);
            int prefixBits = 1 + random.nextInt(address.bits());
            IpNetwork ours = IpNetwork.parse(literal + "/" + prefixBits);
            IPAddress theirs = new IPAddressString(literal, STRICT)
                    .getAddress()
                    .setPrefixLength(prefixBits, false)
                    .toPrefixBlock();
            String other = random.nextBoolean() ? near(address, prefixBits) : literal();
            boolean expected = theirs.contains(new IPAddressString(other, STRICT).getAddress());
            assertEquals(expected, ours.contains(IpAddress.parse(other)), other + " in " + ours);
            inside += expected ? 1 : 0;
        }
        assertTrue(inside > CASES / 10 && inside < CASES * 9 / 10, inside + " inside");
    }

    @Test
    void onWhatIsMapped() {
        for (int i = 0; i < CASES; i++) {
            String literal = ipv6();
            IpAddress ours = IpAddress.parse(literal);
            IPv6Address theirs =
                    new IPAddressString(literal, STRICT).getAddress().toIPv6();
            IPAddress unmapped = theirs.isIPv4Mapped() ? theirs.getEmbeddedIPv4Address() : theirs;
            assertEquals(hex(unmapped), hex(ours.unmapped()), literal);
        }
    }

    private String literal() {
        return random.nextInt(3) == 0 ? ipv4() : ipv6();
    }

    private String ipv4() {
        return random.nextInt(256) + "." + random.nextInt(256) + "." + random.nextInt(256) + "." + random.nextInt(256);
    }

    /** In one of the many spellings: with and without a gap, leading zeros, capitals, a dotted end. */
    private String ipv6() {
        boolean dotted = random.nextInt(4) == 0;
        int groups = dotted ? 6 : 8;
        boolean mapped = random.nextInt(5) == 0;
        int gapFrom = random.nextInt(3) == 0 ? -1 : random.nextInt(groups);
        int gapTo = gapFrom < 0 ? -1 : gapFrom + 1 + random.nextInt(groups - gapFrom);
        StringBuilder text = new StringBuilder();
        boolean separated = true;
        for (int i = 0; i < groups; i++) {
            if (i == gapFrom && !mapped) {
                text.append("::");
                separated = true;
                i = gapTo - 1;
                continue;
            }
            Supplier<Integer> value = () -> random.nextInt(3) == 0 ? 0 : random.nextInt(65_536);
            int group = mapped ? (i < 5 ? 0 : i == 5 ? 0xFFFF : random.nextInt(65_536)) : value.get();
            String hex = String.format(random.nextBoolean() ? "%x" : random.nextBoolean() ? "%04x" : "%X", group);
            text.append(separated ? "" : ":").append(hex);
            separated = false;
        }
        return dotted ? text + (separated ? "" : ":") + ipv4() : text.toString();
    }

    /** With one character more, less or other. */
    private String broken(String literal) {
        // Without a space: the library strips it also when it is strict.
        String alphabet = "0123456789abcdefgABCDEF::..%/[]-*x\u0661";
        StringBuilder text = new StringBuilder(literal);
        int at = random.nextInt(text.length());
        char other = alphabet.charAt(random.nextInt(alphabet.length()));
        switch (random.nextInt(3)) {
            case 0 -> text.deleteCharAt(at);
            case 1 -> text.insert(at, other);
            default -> text.setCharAt(at, other);
        }
        return text.toString();
    }

    /** An address that differs from another in one bit near the end of a prefix, or not at all. */
    private String near(IpAddress address, int prefixBits) {
        StringBuilder bits = new StringBuilder(bits(address));
        int at = Math.max(0, Math.min(bits.length() - 1, prefixBits - 3 + random.nextInt(6)));
        bits.setCharAt(at, bits.charAt(at) == '0' ? '1' : '0');
        StringBuilder text = new StringBuilder();
        int group = address.isIpv4() ? 8 : 16;
        for (int i = 0; i < bits.length(); i += group) {
            int value = Integer.parseInt(bits.substring(i, i + group), 2);
            text.append(i == 0 ? "" : address.isIpv4() ? "." : ":")
                    .append(address.isIpv4() ? Integer.toString(value) : Integer.toHexString(value));
        }
        return text.toString();
    }

    private static String bits(IpAddress address) {
        StringBuilder bits = new StringBuilder();
        for (char digit : hex(address).substring(2).toCharArray()) {
            String four = Integer.toBinaryString(Character.digit(digit, 16));
            bits.append("0".repeat(4 - four.length())).append(four);
        }
        return bits.toString();
    }

    /** The family and the bytes, made of the canonical text by hand. */
    private static String hex(IpAddress address) {
        StringBuilder hex = new StringBuilder(address.isIpv4() ? "4 " : "6 ");
        String text = address.toString();
        if (address.isIpv4()) {
            for (String octet : text.split("\\.", -1)) {
                hex.append(String.format("%02x", Integer.parseInt(octet)));
            }
            return hex.toString();
        }
        String[] halves = text.split("::", -1);
        String[] left = halves[0].isEmpty() ? new String[0] : halves[0].split(":", -1);
        String[] right = halves.length < 2 || halves[1].isEmpty() ? new String[0] : halves[1].split(":", -1);
        for (String group : left) {
            hex.append("0".repeat(4 - group.length())).append(group);
        }
        hex.append("0000".repeat(8 - left.length - right.length));
        for (String group : right) {
            hex.append("0".repeat(4 - group.length())).append(group);
        }
        return hex.toString();
    }

    private static String hex(IPAddress address) {
        StringBuilder hex = new StringBuilder(address.isIPv4() ? "4 " : "6 ");
        for (byte b : address.getBytes()) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
    }
}
