package io.limiter.engine;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The keys that were denied most, of any number of keys in bounded memory: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi,
 * 2005). A new key displaces one of the least denied when all places are taken and takes over its count, as its
 * possible excess. Of n denials, a key with more
 * than n / capacity is always among the entries. Not thread-safe.
 */
final class DeniedKeys {
    private final int capacity;
    private final Map<Id, Entry> entries = new LinkedHashMap<>();
    /** No entry has a smaller count. */
    private long least;

    /** The identity of an entry. */
    record Id(String policy, PartitionKey key, boolean shadow) {}

    /** Denials of a key: how many, by how many that may be too many, and the last of them. */
    record Entry(
            Id id,
            long count,
            long excess,
            Decision.Source source,
            @Nullable Limit limit,
            long retryAfterMicros,
            long lastMicros) {
        /** These and others of the same key. */
        Entry plus(Entry other) {
            return (other.lastMicros < lastMicros ? this : other).with(count + other.count, excess + other.excess);
        }

        private Entry with(long newCount, long newExcess) {
            return new Entry(id, newCount, newExcess, source, limit, retryAfterMicros, lastMicros);
        }
    }

    DeniedKeys(int capacity) {
        this.capacity = capacity;
    }

    /** Counts denials of a key. */
    void add(Entry denials) {
        Entry added = denials;
        if (entries.size() >= capacity && !entries.containsKey(denials.id)) {
            long displaced = removeOneOfTheLeast().count;
            added = denials.with(denials.count + displaced, displaced);
        }
        entries.merge(added.id, added, Entry::plus);
    }

    /** What is known. */
    Collection<Entry> entries() {
        return entries.values();
    }

    private Entry removeOneOfTheLeast() {
        for (int i = 0; i < capacity; i++) {
            Entry first = entries.values().iterator().next();
            entries.remove(first.id);
            if (first.count <= least) {
                return first;
            }
            // To the end: a spray of new keys does not search them all each time.
            entries.put(first.id, first);
        }
        least = entries.values().stream().mapToLong(Entry::count).min().orElseThrow();
        return removeOneOfTheLeast();
    }
}
