package io.limiter.redis;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.KeyHash;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names of states: {@code <prefix>:{<policy>:<client>}:<period in microseconds, or the limit's own
 * name>:<algorithm><version>}. The part in braces is the same for
 * all limits of one policy and client, so they share a slot of a cluster, and clients spread over all slots. ASCII
 * only, with no other braces, so that Redisson and Redis find the same slot.
 *
 * @param hash hides the secrets in them; null if that is not known here
 */
record RedisKeys(String prefix, @Nullable KeyHash hash) {
    /** Of the layouts. It changes when a script reads or writes a state differently. */
    private static final String VERSION = "1";

    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

    RedisKeys {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException("'" + prefix + "' can't start the keys in Redis; use 1 to 64 letters,"
                    + " digits and . _ : - (braces would move the keys' slots)");
        }
    }

    /** The check values of the secrets of instances. */
    String secrets() {
        return prefix + ":{limiter-key-secrets}:1";
    }

    String of(Policy policy, PartitionKey key, Limit limit) {
        return prefix + ":{" + policy.name() + ":" + key.canonical() + "}:" + limit.identity() + ":" + limit.kind()
                + VERSION;
    }
}
