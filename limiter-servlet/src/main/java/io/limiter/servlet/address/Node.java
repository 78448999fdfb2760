package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address with what proxies put around it: brackets, a port, a zone. The grammar of RFC 7239 section 6, and where it
 * is wanted IPv6 without brackets, as other headers have it.
 */
final class Node {
    /** Bounds what is looked at: an address, a zone and a port that is a made-up name. */
    private static final int LONGEST = 128;

    /** One to five digits, or a made-up name that begins with _. */
    private static final String PORT = "(?::(?:[0-9]{1,5}|_[A-Za-z0-9._-]+))?";

    /** With its zone: which interface a link-local address is on means something only on the machine that wrote it. */
    private static final String IPV6 = "([0-9A-Fa-f:.]+)(?:%[A-Za-z0-9._-]{1,32})?";

    private static final Pattern IPV4_AND_PORT = Pattern.compile("([0-9.]+)" + PORT);
    private static final Pattern BRACKETED = Pattern.compile("\\[" + IPV6 + "]" + PORT);
    private static final Pattern BARE_IPV6 = Pattern.compile(IPV6);

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
        // Nearly always it stands alone.
        IpAddress address = IpAddress.parse(node);
        if (address == null) {
            address = parsed(IPV4_AND_PORT, node);
        }
        if (address == null || !(address.isIpv4() || bareIpv6)) {
            address = parsed(node.startsWith("[") || !bareIpv6 ? BRACKETED : BARE_IPV6, node);
            if (address == null || address.isIpv4()) {
                return null;
            }
        }
        // What a NAT64 made of 0.0.0.0 is nobody's address either.
        return address.unmapped().untranslated().isUnspecified() ? null : address.unmapped();
    }

    private static @Nullable IpAddress parsed(Pattern pattern, String node) {
        Matcher matcher = pattern.matcher(node);
        return matcher.matches() ? IpAddress.parse(matcher.group(1)) : null;
    }
}
