package io.limiter.internal.control;

import io.limiter.PartitionKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The directives in force. Immutable: a change makes another one, in which the other policies are the same. */
public final class Directives {
    /** No directives. */
    public static final Directives NONE = new Directives(Map.of(), Map.of(), null);

    private final Map<String, Directive> byId;
    private final Map<String, OfPolicy> byPolicy;
    private final @Nullable Directive all;

    /**
     * Those of one policy.
     *
     * @param whole the switch of the policy; null for none
     * @param keys overrides by key
     * @param filter a bit by the hash of each key: so small that it stays in the caches of a processor, where the map does not
     */
    private record OfPolicy(@Nullable Directive whole, Map<PartitionKey, Directive> keys, long[] filter) {
        static OfPolicy of(List<Directive> all) {
            Directive whole = null;
            Map<PartitionKey, Directive> keys = new HashMap<>();
            long[] filter = new long[Integer.highestOneBit(all.size() / 4 + 1)];
            for (Directive one : all) {
                if (one.key().isEmpty()) {
                    whole = one;
                } else {
                    PartitionKey key = PartitionKey.parse(one.key());
                    keys.put(key, one);
                    filter[word(key.hashCode(), filter)] |= 1L << key.hashCode();
                }
            }
            return new OfPolicy(whole, keys, filter);
        }

        private static int word(int hash, long[] filter) {
            return hash >>> 6 & filter.length - 1;
        }

        @Nullable
        Directive find(PartitionKey key) {
            if (whole != null) {
                return whole;
            }
            int hash = key.hashCode();
            return (filter[word(hash, filter)] & 1L << hash) == 0 ? null : keys.get(key);
        }
    }

    private Directives(Map<String, Directive> byId, Map<String, OfPolicy> byPolicy, @Nullable Directive all) {
        this.byId = byId;
        this.byPolicy = byPolicy;
        this.all = all;
    }

    /**
     * The same after some changes.
     *
     * @param changes in the order of their revisions
     * @param nowMicros the time of Redis: what has ended is left out
     * @throws IllegalArgumentException if there are too many
     */
    public Directives after(Collection<Directive> changes, long nowMicros) {
        Map<String, Directive> ids = new LinkedHashMap<>(byId);
        changes.forEach(change -> ids.put(change.id(), change));
        ids.values().removeIf(one -> one.kind() == Directive.Kind.REMOVED || one.untilMicros() <= nowMicros);
        if (ids.size() > ControlKeys.MOST_DIRECTIVES) {
            throw new IllegalArgumentException(
                    "RL-503 there are " + ids.size() + " overrides and switches, and at most "
                            + ControlKeys.MOST_DIRECTIVES + " are taken; remove some");
        }
        if (ids.equals(byId)) {
            return this;
        }
        Map<String, OfPolicy> policies = new HashMap<>();
        ids.values().stream()
                .filter(one -> !one.policy().isEmpty())
                .collect(Collectors.groupingBy(Directive::policy))
                .forEach((policy, all) -> policies.put(policy, OfPolicy.of(all)));
        return new Directives(ids, policies, ids.get(Directive.ALL + " "));
    }

    /** All of them. */
    public Collection<Directive> all() {
        return Collections.unmodifiableCollection(byId.values());
    }

    /** Those that this has and another one does not. */
    public List<Directive> without(Directives other) {
        List<Directive> rest = new ArrayList<>(byId.values());
        rest.removeIf(one -> one.equals(other.byId.get(one.id())));
        return rest;
    }

    /** Whether a policy has none, and there is none for everything. */
    public boolean isQuiet(String policy) {
        return all == null && (byPolicy.isEmpty() || !byPolicy.containsKey(policy));
    }

    /**
     * The one that decides a call: the strongest.
     *
     * @param nowMicros the time of Redis
     */
    @Nullable
    Directive find(String policy, PartitionKey key, LongSupplier nowMicros) {
        Directive found = all;
        if (found == null) {
            OfPolicy mine = byPolicy.get(policy);
            found = mine == null ? null : mine.find(key);
        }
        return found == null || found.untilMicros() <= nowMicros.getAsLong() ? null : found;
    }
}
