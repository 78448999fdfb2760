package io.limiter.spring.boot.actuate;

import io.limiter.PartitionKey;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.http.ClientAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses the key that an operator enters: a key as in the names of states in Redis, a whole such name, or a client's
 * address. Other text is refused, never guessed.
 *
 * @param policy the policy whose keys it parses
 * @param ipv6PrefixBits how many bits of an IPv6 address identify a client in the policy's rules
 */
record KeyText(String policy, int ipv6PrefixBits) {
    /**
     * The key of a text.
     *
     * @throws IllegalArgumentException if it is not one; the message contains what to write
     */
    PartitionKey read(String text) {
        String key = withinBraces(text.strip());
        boolean standIn = key.startsWith("@");
        String client = client(standIn ? key.substring(1) : key);
        if (client != null) {
            return standIn ? PartitionKey.builder().addStandIn(client).build() : PartitionKey.of(client);
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
        boolean malformed = text.startsWith("!");
        String written = malformed ? text.substring(1) : text;
        IpAddress address = IpAddress.parse(written);
        if (address != null || (malformed && written.equals("unknown"))) {
            Optional<IpAddress> known =
                    Optional.ofNullable(address).map(IpAddress::unmapped).map(IpAddress::untranslated);
            return new ClientAddress(known, ClientAddress.Origin.NONE, malformed, ipv6PrefixBits).text();
        }
        try {
            return written.indexOf('/') < 0
                    ? null
                    : (malformed ? "!" : "") + IpNetwork.parse(written).withoutHostBits();
        } catch (IllegalArgumentException noNetwork) {
            return null;
        }
    }
}
