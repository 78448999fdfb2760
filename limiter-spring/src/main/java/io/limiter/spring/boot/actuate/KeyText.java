package io.limiter.spring.boot.actuate;

import io.limiter.PartitionKey;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.http.ClientAddress;
import java.util.Optional;

/**
 * Parses the key that an operator enters: a client's address, or a key as in the names of states in Redis. Other text is
 * refused, never guessed.
 */
final class KeyText {
    private KeyText() {}

    /**
     * The key of a text.
     *
     * @param ipv6PrefixBits how many bits of an IPv6 address identify a client in the policy's rules
     * @throws IllegalArgumentException if it is not one; the message contains what to write
     */
    static PartitionKey read(String text, int ipv6PrefixBits) {
        try {
            // IPv6 has colons, which separate the parts of a key, and a network has a slash, which is encoded in a key.
            IpAddress address = IpAddress.parse(text);
            if (address != null) {
                Optional<IpAddress> known = Optional.of(address.unmapped().untranslated());
                return PartitionKey.of(
                        new ClientAddress(known, ClientAddress.Origin.NONE, false, ipv6PrefixBits).text());
            }
            return text.indexOf('/') < 0
                    ? PartitionKey.parse(text)
                    : PartitionKey.of(IpNetwork.parse(text).withoutHostBits().toString());
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    wrong.getMessage() + "; write a client's address, or the key as it is in Redis after the"
                            + " policy's name, and in a URL each % of it as %25 (curl -G --data-urlencode 'key=...')",
                    wrong);
        }
    }
}
