package io.limiter.control;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The overrides and switches in force, the time by which they end, and what operators should know. The follower's thread sets all of it;
 * decisions read the first two.
 */
final class InForce {
    /** No override has this key. */
    private static final PartitionKey SWITCH = PartitionKey.global();

    private final TimeSource time;
    private volatile Set<Entry> all = Set.of();
    /** The same by policy and key; of switches that are about all policies the policy is empty. */
    private volatile Map<String, Map<PartitionKey, Entry>> byPolicy = Map.of();

    private volatile long offsetMicros;
    private volatile List<String> findings = List.of();

    /** @param time a monotonic clock */
    InForce(TimeSource time) {
        this.time = time;
        this.offsetMicros = time.unixMicros() - time.nowMicros();
    }

    Set<Entry> all() {
        return all;
    }

    void set(Set<Entry> next) {
        Map<String, Map<PartitionKey, Entry>> fresh = new HashMap<>();
        next.forEach(one -> fresh.computeIfAbsent(one.policy(), policy -> new HashMap<>())
                .put(one.isSwitch() ? SWITCH : PartitionKey.parse(one.key()), one));
        byPolicy = fresh;
        all = Set.copyOf(next);
    }

    /**
     * The one that decides calls of a key to a policy: a switch for all policies, else one of this policy, else the override of the key;
     * none that has ended. Null for none.
     */
    @Nullable
    Entry find(String policy, PartitionKey key) {
        Map<String, Map<PartitionKey, Entry>> now = byPolicy;
        if (now.isEmpty()) {
            return null;
        }
        Entry one = find(now, "", SWITCH);
        if (one == null) {
            one = find(now, policy, SWITCH);
        }
        return one == null ? find(now, policy, key) : one;
    }

    private @Nullable Entry find(Map<String, Map<PartitionKey, Entry>> now, String policy, PartitionKey key) {
        Map<PartitionKey, Entry> its = now.get(policy);
        Entry one = its == null ? null : its.get(key);
        return one == null || one.untilMicros() <= nowMicros() ? null : one;
    }

    /** What operators should know, each with its code. */
    List<String> findings() {
        return findings;
    }

    void setFindings(List<String> found) {
        findings = List.copyOf(found);
    }

    /** Notes the time of Redis; until then, and while Redis is unreachable, the clock of this machine goes on. */
    void setTime(long redisMicros) {
        offsetMicros = redisMicros - time.nowMicros();
    }

    /** The time of Redis, as far as it is known: it may step, so it measures no pauses. */
    long nowMicros() {
        return time.nowMicros() + offsetMicros;
    }

    /** A time that never steps. */
    long steadyMicros() {
        return time.nowMicros();
    }
}
