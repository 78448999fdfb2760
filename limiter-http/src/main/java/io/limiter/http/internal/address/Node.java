package io.limiter.http.internal.address;

import io.limiter.address.IpAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address with what proxies put around it: brackets, a port, a zone. The grammar of RFC 7239 section 6 and,
 * optionally, IPv6 without brackets, as in other headers.
 */
final class Node {
    /** Maximum length: an address, a zone and a port that is an obfuscated name. */
    private static final int LONGEST = 128;

    /** One to five digits, or an obfuscated name that begins with _. */
    private static final String PORT = "(?::(?:[0-9]{1,5}|_[A-Za-z0-9._-]+))?";

    /** With its zone: the interface of a link-local address is meaningful only on the machine that wrote it. */
    private static final String IPV6 = "([0-9A-Fa-f:.]+)(?:%[A-Za-z0-9._-]{1,32})?";

    private static final Pattern IPV4_AND_PORT = Pattern.compile("([0-9.]+)" + PORT);
    private static final Pattern BRACKETED = Pattern.compile("\\[" + IPV6 + "]" + PORT);
    private static final Pattern BARE_IPV6 = Pattern.compile(IPV6);

    private Node() {}

    /**
     * The address, without its port and zone, and unmapped; null if the text has no valid client address.
     *
     * @param bareIpv6 whether IPv6 is also allowed without brackets
     */
    static @Nullable IpAddress address(String node, boolean bareIpv6) {
        if (node.length() > LONGEST) {
            return null;
        }
        // Nearly always it is an address alone.
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
        // The NAT64 form of 0.0.0.0 is not a client's address either.
        return address.unmapped().untranslated().isUnspecified() ? null : address.unmapped();
    }

    private static @Nullable IpAddress parsed(Pattern pattern, String node) {
        Matcher matcher = pattern.matcher(node);
        return matcher.matches() ? IpAddress.parse(matcher.group(1)) : null;
    }
}
