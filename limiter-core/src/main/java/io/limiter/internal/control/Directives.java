package io.limiter.internal.control;

import io.limiter.PartitionKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The overrides and switches in force. Immutable: a change makes another one, which has the same {@link OfPolicy} for each policy
 * about which nothing has changed.
 */
public final class Directives {
    /** No directives. */
    public static final Directives NONE = new Directives(Map.of(), Map.of(), OfPolicy.of(List.of()));

    private final Map<String, Directive> byId;
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
    record OfPolicy(List<Directive> all, List<Directive> switches, Map<PartitionKey, Directive> keys, long[] filter) {
        static OfPolicy of(List<Directive> all) {
            List<Directive> switches = all.stream().filter(Directive::isSwitch).toList();
            Map<PartitionKey, Directive> keys = new HashMap<>();
            long[] filter = new long[Integer.highestOneBit(all.size() / 4 + 1)];
            // With a switch each key may have one.
            Arrays.fill(filter, switches.isEmpty() ? 0 : -1);
            for (Directive one : all) {
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

        /** False only where no directive is about a key. */
        boolean mayHave(PartitionKey key) {
            int hash = key.hashCode();
            return (~filter[word(hash, filter)] & bits(hash)) == 0;
        }

        /** The one that decides calls of a key: the strongest that has not ended. */
        @Nullable
        Directive find(PartitionKey key, LongSupplier nowMicros) {
            if (!mayHave(key)) {
                return null;
            }
            long now = nowMicros.getAsLong();
            for (Directive one : switches) {
                if (one.untilMicros() > now) {
                    return one;
                }
            }
            Directive one = keys.get(key);
            return one == null || one.untilMicros() <= now ? null : one;
        }
    }

    private Directives(Map<String, Directive> byId, Map<String, OfPolicy> byPolicy, OfPolicy others) {
        this.byId = byId;
        this.byPolicy = byPolicy;
        this.others = others;
    }

    /**
     * The same after some changes.
     *
     * @param changes in the order of their revisions
     * @param nowMicros the time of Redis: what has ended is left out
     * @throws IllegalArgumentException if there are too many
     */
    public Directives after(Collection<Directive> changes, long nowMicros) {
        if (changes.isEmpty() && byId.values().stream().noneMatch(one -> one.untilMicros() <= nowMicros)) {
            return this;
        }
        Map<String, Directive> ids = new LinkedHashMap<>(byId);
        changes.forEach(change -> ids.put(change.id(), change));
        ids.values().removeIf(one -> one.kind() == Directive.Kind.REMOVED || one.untilMicros() <= nowMicros);
        if (ids.size() > ControlKeys.MOST_DIRECTIVES) {
            throw new IllegalArgumentException(
                    "RL-503 there are " + ids.size() + " overrides and switches, and at most "
                            + ControlKeys.MOST_DIRECTIVES + " are taken; remove some");
        }
        List<Directive> everything =
                Stream.ofNullable(ids.get(Directive.ALL + " ")).toList();
        Map<String, OfPolicy> policies = new HashMap<>();
        ids.values().stream()
                .filter(one -> !one.policy().isEmpty())
                .collect(Collectors.groupingBy(
                        Directive::policy, Collectors.toCollection(() -> new ArrayList<>(everything))))
                .forEach((policy, mine) -> policies.put(policy, same(byPolicy.get(policy), mine)));
        return new Directives(ids, policies, same(others, everything));
    }

    private static OfPolicy same(@Nullable OfPolicy before, List<Directive> mine) {
        return before != null && before.all.equals(mine) ? before : OfPolicy.of(mine);
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

    /** Those that decide calls to a policy. */
    OfPolicy of(String policy) {
        return byPolicy.getOrDefault(policy, others);
    }
}
