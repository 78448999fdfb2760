package io.limiter.kit.door;

import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IPAddressStringParameters;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules of docs/client-address.md once more, as plainly as they can be written: everything is parsed, by regular
 * expressions and another library, then looked at. It shares no code with what it is compared with.
 */
public record NaiveWalk(
        List<String> networks,
        boolean everybody,
        int hops,
        @Nullable String header,
        int prefix) {
    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final String QUOTED = "\"(?:[^\"\\\\]|\\\\.)*\"";
    private static final Pattern PAIR = Pattern.compile("(" + TOKEN + ")=(" + TOKEN + "|" + QUOTED + ")");
    private static final Pattern ELEMENT =
            Pattern.compile("[ \t]*(?:" + PAIR + ")?(?:[ \t]*;[ \t]*(?:" + PAIR + ")?)*[ \t]*", Pattern.DOTALL);
    private static final Pattern PIECE = Pattern.compile("(?:[^\",]|" + QUOTED + ")*", Pattern.DOTALL);
    private static final Pattern BRACKETED = Pattern.compile("\\[([^\\]]*)](?::([0-9]{1,5}|_[A-Za-z0-9._-]+))?");
    private static final Pattern WITH_PORT = Pattern.compile("([0-9.]+)(?::([0-9]{1,5}|_[A-Za-z0-9._-]+))?");
    private static final Pattern ZONED = Pattern.compile("([^%]*)(?:%[A-Za-z0-9._-]+)?");
    private static final IPAddressStringParameters PLAIN = plain();
    private static final Pattern DECIMAL =
            Pattern.compile("(?:(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])(?:\\.(?!$)|$)){4}");

    /** A hop that is no address. */
    private static final String BAD = "bad";

    /** Nothing between two commas: no hop. */
    private static final String EMPTY = "empty";

    /** Something that nobody can read on from. */
    private static final String BROKEN = "broken";

    /** The peer of a connection without an address. */
    private static final String NONE = "none";

    private static IPAddressStringParameters plain() {
        IPAddressStringParameters.Builder plain = new IPAddressStringParameters.Builder()
                .allowAll(false)
                .allowEmpty(false)
                .allowMask(false)
                .allowPrefix(false)
                .allowSingleSegment(false)
                .allowWildcardedSeparator(false);
        plain.getIPv6AddressParametersBuilder()
                .allowUnlimitedLeadingZeros(false)
                .allowBase85(false)
                .allowBinary(false)
                .allowZone(false);
        return plain.toParams();
    }

    /** The text for a key. */
    public String text(String peer, List<String> lines) {
        String direct = peer.isEmpty() ? NONE : address(peer, true);
        if (header == null) {
            return shown(direct);
        }
        List<String> chain = new ArrayList<>();
        for (String line : lines) {
            List<String> found = hops(line);
            chain.addAll(found == null ? List.of(BROKEN) : found);
        }
        Collections.reverse(chain);
        withoutEmpty(chain);
        if (hops > 0) {
            boolean malformed = chain.size() < hops
                    || chain.subList(0, hops).contains(BROKEN)
                    || chain.get(hops - 1).equals(BAD);
            return malformed ? malformed(direct) : shown(chain.get(hops - 1));
        }
        if (!trusted(direct) || lines.isEmpty()) {
            return shown(direct);
        }
        if (!isList()) {
            return lines.size() > 1 || chain.get(0).equals(BAD) ? malformed(direct) : shown(chain.get(0));
        }
        String current = direct;
        int seen = 0;
        for (String hop : chain) {
            if (hop.equals(BAD) || hop.equals(BROKEN) || ++seen > 32) {
                return malformed(current);
            }
            current = hop;
            if (!trusted(hop)) {
                return shown(hop);
            }
        }
        return shown(current);
    }

    private boolean isList() {
        return header.equals("X-Forwarded-For") || header.equals("Forwarded");
    }

    /** Takes the empty elements out of a chain from the last hop back; at the seventeenth of them it can't be read on. */
    private static void withoutEmpty(List<String> chain) {
        for (int empty = 1; chain.contains(EMPTY); empty++) {
            int at = chain.indexOf(EMPTY);
            if (empty > 16) {
                chain.set(at, BROKEN);
                chain.subList(at + 1, chain.size()).clear();
            } else {
                chain.remove(at);
            }
        }
    }

    /** The hops of a line from left to right; null when a quote has no end. */
    private List<String> hops(String line) {
        List<String> found = new ArrayList<>();
        if (header.equals("Forwarded")) {
            int at = 0;
            while (true) {
                Matcher piece = PIECE.matcher(line).region(at, line.length());
                if (!piece.lookingAt() || (piece.end() < line.length() && line.charAt(piece.end()) != ',')) {
                    return null;
                }
                found.add(piece.group().matches("[ \t]*") ? EMPTY : forwarded(piece.group()));
                if (piece.end() == line.length()) {
                    return found;
                }
                at = piece.end() + 1;
            }
        }
        for (String item : header.equals("X-Forwarded-For") ? line.split(",", -1) : new String[] {line}) {
            String text = item.replaceAll("^[ \t]+|[ \t]+$", "");
            found.add(text.isEmpty() && isList() ? EMPTY : address(text, true));
        }
        return found;
    }

    private static String forwarded(String element) {
        if (!ELEMENT.matcher(element).matches()) {
            return BAD;
        }
        List<String> names = new ArrayList<>();
        String node = BAD;
        Matcher pair = PAIR.matcher(element);
        while (pair.find()) {
            String name = pair.group(1).toLowerCase(java.util.Locale.ROOT);
            String value = pair.group(2);
            if (names.contains(name)) {
                return BAD;
            }
            names.add(name);
            if (value.startsWith("\"")) {
                value = value.substring(1, value.length() - 1).replaceAll("\\\\(.)", "$1");
            }
            if (value.matches("(?s).*[\u0000-\b\n-\u001f\u007f].*")) {
                return BAD;
            }
            if (name.equals("for")) {
                node = address(value, false);
            }
        }
        return node;
    }

    /** The canonical text of an address, IPv4 where it is mapped; "bad" when it is none. */
    private static String address(String node, boolean bare) {
        Matcher bracketed = BRACKETED.matcher(node);
        Matcher withPort = WITH_PORT.matcher(node);
        String literal;
        if (bracketed.matches()) {
            literal = bracketed.group(1).contains(":") ? withoutZone(bracketed.group(1)) : "";
        } else if (withPort.matches()) {
            literal = withPort.group(1);
        } else {
            literal = bare && node.contains(":") ? withoutZone(node) : "";
        }
        // The library takes other numbers than decimal ones, also at the end of IPv6.
        String dotted = literal.contains(":") ? literal.substring(literal.lastIndexOf(':') + 1) : literal;
        boolean decimal = DECIMAL.matcher(dotted).matches() || (literal.contains(":") && !dotted.contains("."));
        if (!decimal || !literal.matches("[0-9A-Fa-f:.]+")) {
            return BAD;
        }
        IPAddress address = new IPAddressString(literal, PLAIN).getAddress();
        if (address == null) {
            return BAD;
        }
        if (address.isIPv6() && address.toIPv6().isIPv4Mapped()) {
            address = address.toIPv6().getEmbeddedIPv4Address();
        }
        return translated(address).isZero() ? BAD : address.toCanonicalString();
    }

    private static String withoutZone(String literal) {
        Matcher zoned = ZONED.matcher(literal);
        return zoned.matches() ? zoned.group(1) : "";
    }

    private static IPAddress translated(IPAddress address) {
        boolean nat64 = address.isIPv6()
                && new IPAddressString("64:ff9b::/96").getAddress().contains(address);
        return nat64 ? address.toIPv6().getEmbeddedIPv4Address() : address;
    }

    private boolean trusted(String address) {
        if (everybody) {
            return true;
        }
        return !address.equals(BAD)
                && !address.equals(NONE)
                && networks.stream()
                        .anyMatch(network -> new IPAddressString(network)
                                .getAddress()
                                .toPrefixBlock()
                                .contains(new IPAddressString(address).getAddress()));
    }

    private String malformed(String canonical) {
        return canonical.equals(BAD) || canonical.equals(NONE) ? "!unknown" : "!" + shown(canonical);
    }

    private String shown(String canonical) {
        if (canonical.equals(BAD) || canonical.equals(NONE)) {
            return canonical.equals(BAD) ? "!unknown" : "unknown";
        }
        IPAddress address = translated(new IPAddressString(canonical).getAddress());
        if (address.isIPv4() || prefix == 128) {
            return address.toCanonicalString();
        }
        return address.setPrefixLength(prefix, false)
                        .toZeroHost()
                        .withoutPrefixLength()
                        .toCanonicalString()
                + "/" + prefix;
    }
}
