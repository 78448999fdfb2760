package io.limiter.spring.boot.actuate;

import io.limiter.PartitionKey;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Parses the key that an operator enters: a key as in the names of states in Redis, a whole such name, or a client's
 * address. Other text is refused, never guessed.
 */
final class KeyText {
    private final String policy;
    private final int ipv6PrefixBits;

    /**
     * A parser of keys of a policy.
     *
     * @param ipv6PrefixBits how many bits of an IPv6 address identify a client in the policy's rules
     */
    KeyText(String policy, int ipv6PrefixBits) {
        this.policy = policy;
        this.ipv6PrefixBits = ipv6PrefixBits;
    }

    /**
     * The key of a text.
     *
     * @throws IllegalArgumentException if it is not one; the message contains what to write
     */
    PartitionKey read(String text) {
        String key = withinBraces(text.strip());
        String client = client(key);
        if (client != null) {
            return key.startsWith("@")
                    ? PartitionKey.builder().addStandIn(client).build()
                    : PartitionKey.of(client);
        }
        try {
            return PartitionKey.parse(key);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    wrong.getMessage() + "; write a client's address, or the key as it is in Redis after the"
                            + " policy's name, and in a URL each % of it as %25 (curl -G --data-urlencode 'key=...')",
                    wrong);
        }
    }

    /** The parts of a key in plain text, so that an operator can recognize the client. */
    static List<String> parts(PartitionKey key) {
        UnaryOperator<String> plain = part -> URLDecoder.decode(part, StandardCharsets.UTF_8);
        return Arrays.stream(key.canonical().split(":")).map(plain).toList();
    }

    /** Extracts the key from {@code limiter:{vote:192.0.2.1}:10000000:sliding-list1}. */
    private String withinBraces(String text) {
        int open = text.indexOf('{');
        int close = text.lastIndexOf('}');
        if (open < 0 || close < open) {
            return text;
        }
        String inside = text.substring(open + 1, close);
        if (!inside.startsWith(policy + ":")) {
            throw new IllegalArgumentException("'" + text + "' is not a state of the policy '" + policy + "' but of '"
                    + inside.substring(0, Math.max(0, inside.indexOf(':'))) + "'; use that one");
        }
        return inside.substring(policy.length() + 1);
    }

    /**
     * The text of a client in the filter's keys; null if it is not an address. IPv6 has colons, which separate the
     * parts of a key, so a decoded address must be handled before keys.
     */
    private @Nullable String client(String text) {
        boolean standIn = text.startsWith("@");
        boolean malformed = text.startsWith("!") || text.startsWith("@!");
        String address = text.substring((standIn ? 1 : 0) + (malformed ? 1 : 0));
        IpAddress one = IpAddress.parse(address);
        if (one != null) {
            return (malformed ? "!" : "") + text(one.unmapped().untranslated());
        }
        if (address.indexOf('/') < 0) {
            return malformed && address.equals("unknown") ? "!" + address : null;
        }
        try {
            return (malformed ? "!" : "") + IpNetwork.parse(address).withoutHostBits();
        } catch (IllegalArgumentException noNetwork) {
            return null;
        }
    }

    private String text(IpAddress address) {
        return address.isIpv4() || ipv6PrefixBits == IpAddress.IPV6_BITS
                ? address.toString()
                : address.masked(ipv6PrefixBits) + "/" + ipv6PrefixBits;
    }
}
