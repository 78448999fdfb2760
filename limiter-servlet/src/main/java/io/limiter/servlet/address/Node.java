package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import org.jspecify.annotations.Nullable;

/**
 * An address with what proxies put around it: brackets, a port, a zone. The grammar of RFC 7239 section 6, and where it
 * is wanted IPv6 without brackets, as other headers have it.
 */
final class Node {
    /** Bounds what is looked at: an address, a zone and a port that is a made-up name. */
    private static final int LONGEST = 128;

    private static final int LONGEST_ZONE = 32;

    private Node() {}

    /**
     * The address, without its port and zone, and unmapped; null when the text has none that a client can have.
     *
     * @param bareIpv6 whether IPv6 stands without brackets too
     */
    static @Nullable IpAddress address(String node, boolean bareIpv6) {
        if (node.length() > LONGEST) {
            return null;
        }
        IpAddress address = literal(node, bareIpv6);
        // What a NAT64 made of 0.0.0.0 is nobody's address either.
        return address == null || address.unmapped().untranslated().isUnspecified() ? null : address.unmapped();
    }

    private static @Nullable IpAddress literal(String node, boolean bareIpv6) {
        if (node.startsWith("[")) {
            int close = node.indexOf(']');
            return close > 0 && isPort(node, close + 1) ? ipv6(node.substring(1, close)) : null;
        }
        int colon = node.indexOf(':');
        if (colon < 0) {
            return IpAddress.parse(node);
        }
        int dot = node.indexOf('.');
        // An IPv6 literal has no dot before its first colon.
        if (dot >= 0 && dot < colon) {
            return isPort(node, colon) ? IpAddress.parse(node.substring(0, colon)) : null;
        }
        return bareIpv6 ? ipv6(node) : null;
    }

    private static @Nullable IpAddress ipv6(String text) {
        int percent = text.indexOf('%');
        if (percent >= 0 && !isZone(text, percent + 1)) {
            return null;
        }
        IpAddress address = IpAddress.parse(percent < 0 ? text : text.substring(0, percent));
        return address == null || address.isIpv4() ? null : address;
    }

    /** Whether nothing follows, or a colon and a port: one to five digits, or a made-up name that begins with _. */
    private static boolean isPort(String node, int from) {
        if (from == node.length()) {
            return true;
        }
        if (node.charAt(from) != ':' || from + 1 == node.length()) {
            return false;
        }
        if (node.charAt(from + 1) == '_') {
            return from + 2 < node.length() && isWord(node, from + 2);
        }
        for (int i = from + 1; i < node.length(); i++) {
            if (node.charAt(i) < '0' || node.charAt(i) > '9') {
                return false;
            }
        }
        return node.length() - from - 1 <= 5;
    }

    /** Which interface a link-local address is on means something only on the machine that wrote it. */
    private static boolean isZone(String text, int from) {
        return from < text.length() && text.length() - from <= LONGEST_ZONE && isWord(text, from);
    }

    private static boolean isWord(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean fits = (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || c == '.'
                    || c == '_'
                    || c == '-';
            if (!fits) {
                return false;
            }
        }
        return true;
    }
}
