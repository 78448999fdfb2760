package io.limiter.control;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The overrides and switches in force, and the time by which they end. One thread sets both; decisions read them. */
final class InForce {
    private final TimeSource time;
    private volatile Entries entries = new Entries(Set.of());
    private volatile long offsetMicros;
    private volatile List<String> findings = List.of();

    /** @param time a monotonic clock */
    InForce(TimeSource time) {
        this.time = time;
        this.offsetMicros = time.unixMicros() - time.nowMicros();
    }

    /** All of them. Immutable: a change makes another one. */
    record Entries(Set<Entry> all, Map<String, OfPolicy> policies, OfPolicy others) {
        Entries(Set<Entry> all) {
            this(
                    all,
                    new HashMap<>(),
                    new OfPolicy(all.stream().filter(one -> one.target().equals(Entry.ALL))));
            all.stream()
                    .filter(one -> !one.policy().isEmpty())
                    .collect(Collectors.groupingBy(Entry::policy))
                    .forEach((policy, its) ->
                            policies.put(policy, new OfPolicy(Stream.concat(others.switches.stream(), its.stream()))));
        }

        /** Those that decide calls to a policy. */
        OfPolicy of(String policy) {
            return policies.getOrDefault(policy, others);
        }
    }

    /**
     * Those that decide calls to one policy.
     *
     * @param switches of everything, then of the policy
     * @param keys overrides by key
     */
    record OfPolicy(List<Entry> switches, Map<PartitionKey, Entry> keys) {
        private OfPolicy(Stream<Entry> all) {
            this(all.collect(Collectors.partitioningBy(Entry::isSwitch)));
        }

        private OfPolicy(Map<Boolean, List<Entry>> all) {
            this(all.getOrDefault(true, List.of()), new HashMap<>());
            all.getOrDefault(false, List.of()).forEach(one -> keys.put(PartitionKey.parse(one.key()), one));
        }

        /** False only where no override or switch is about a key. */
        boolean mayHave(PartitionKey key) {
            return !switches.isEmpty() || !keys.isEmpty() && keys.containsKey(key);
        }
    }

    Entries entries() {
        return entries;
    }

    void set(Set<Entry> next) {
        entries = new Entries(Set.copyOf(next));
    }

    /** The one that decides calls of a key to a policy: the strongest that has not ended; null for none. */
    @Nullable
    Entry find(String policy, PartitionKey key) {
        OfPolicy its = entries.of(policy);
        if (!its.mayHave(key)) {
            return null;
        }
        long now = nowMicros();
        for (Entry one : its.switches) {
            if (one.untilMicros() > now) {
                return one;
            }
        }
        Entry one = its.keys.get(key);
        return one == null || one.untilMicros() <= now ? null : one;
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
