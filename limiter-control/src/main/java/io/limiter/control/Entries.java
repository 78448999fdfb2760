package io.limiter.control;

import io.limiter.PartitionKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The overrides and switches in force. Immutable: a change makes another one, which has the same {@link OfPolicy} for each policy
 * about which nothing has changed.
 */
final class Entries {
    /** No overrides and switches. */
    static final Entries NONE = new Entries(Set.of(), Map.of(), OfPolicy.of(List.of()));

    private final Set<Entry> all;
    private final Map<String, OfPolicy> byPolicy;
    private final OfPolicy others;

    /**
     * Those that decide calls to one policy.
     *
     * @param all of which the others are made
     * @param switches of everything, then of the policy
     * @param keys overrides by key
     * @param filter two bits of one word for each key, by its hash: so small that it stays in the caches of a processor, where the
     *     map does not
     */
    record OfPolicy(List<Entry> all, List<Entry> switches, Map<PartitionKey, Entry> keys, long[] filter) {
        static OfPolicy of(List<Entry> all) {
            List<Entry> switches = all.stream().filter(Entry::isSwitch).toList();
            Map<PartitionKey, Entry> keys = new HashMap<>();
            long[] filter = new long[Integer.highestOneBit(all.size() / 4 + 1)];
            // With a switch each key may have one.
            Arrays.fill(filter, switches.isEmpty() ? 0 : -1);
            for (Entry one : all) {
                if (!one.isSwitch()) {
                    PartitionKey key = PartitionKey.parse(one.key());
                    keys.put(key, one);
                    filter[word(key.hashCode(), filter)] |= bits(key.hashCode());
                }
            }
            return new OfPolicy(all, switches, keys, filter);
        }

        private static int word(int hash, long[] filter) {
            return hash >>> 12 & filter.length - 1;
        }

        private static long bits(int hash) {
            return 1L << hash | 1L << (hash >>> 6);
        }

        /** False only where no override or switch is about a key. */
        boolean mayHave(PartitionKey key) {
            int hash = key.hashCode();
            return (~filter[word(hash, filter)] & bits(hash)) == 0;
        }

        /** The one that decides calls of a key: the strongest that has not ended. */
        @Nullable
        Entry find(PartitionKey key, LongSupplier nowMicros) {
            if (!mayHave(key)) {
                return null;
            }
            long now = nowMicros.getAsLong();
            for (Entry one : switches) {
                if (one.untilMicros() > now) {
                    return one;
                }
            }
            Entry one = keys.get(key);
            return one == null || one.untilMicros() <= now ? null : one;
        }
    }

    private Entries(Set<Entry> all, Map<String, OfPolicy> byPolicy, OfPolicy others) {
        this.all = all;
        this.byPolicy = byPolicy;
        this.others = others;
    }

    /** Others instead of these. */
    Entries next(Collection<Entry> next) {
        if (next.size() == all.size() && all.containsAll(next)) {
            return this;
        }
        List<Entry> everything =
                next.stream().filter(one -> one.target().equals(Entry.ALL)).toList();
        Map<String, OfPolicy> policies = new HashMap<>();
        next.stream()
                .filter(one -> !one.policy().isEmpty())
                .collect(Collectors.groupingBy(
                        Entry::policy, Collectors.toCollection(() -> new ArrayList<>(everything))))
                .forEach((policy, its) -> policies.put(policy, same(byPolicy.get(policy), its)));
        return new Entries(new LinkedHashSet<>(next), policies, same(others, everything));
    }

    private static OfPolicy same(@Nullable OfPolicy before, List<Entry> its) {
        return before != null && before.all.equals(its) ? before : OfPolicy.of(its);
    }

    /** All of them. */
    Set<Entry> all() {
        return Collections.unmodifiableSet(all);
    }

    /** Those that decide calls to a policy. */
    OfPolicy of(String policy) {
        return byPolicy.getOrDefault(policy, others);
    }
}
