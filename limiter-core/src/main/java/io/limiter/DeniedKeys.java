package io.limiter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
    private final Map<Id, Entry> index = new HashMap<>();
    private final List<Entry> entries = new ArrayList<>();
    /** Where the search for the next entry to displace begins: a spray of new keys does not search them all each time. */
    private int hand;
    /** No entry has a smaller count. */
    private long least;

    /** The identity of an entry. */
    record Id(String policy, PartitionKey key, boolean shadow) {}

    /** What is known of a key. */
    static final class Entry {
        Id id;
        long count;
        long excess;
        Decision.Source source = Decision.Source.FAILED_CLOSED;

        @Nullable
        Limit limit;

        long retryAfterMicros;
        long lastMicros = Long.MIN_VALUE;

        Entry(Id id) {
            this.id = id;
        }

        void denied(Decision.Source from, @Nullable Limit by, long wait, long now) {
            source = from;
            limit = by;
            retryAfterMicros = wait;
            lastMicros = now;
        }

        /** Counts what is known of the same key elsewhere. */
        Entry plus(Entry other) {
            count += other.count;
            excess += other.excess;
            if (other.lastMicros > lastMicros) {
                denied(other.source, other.limit, other.retryAfterMicros, other.lastMicros);
            }
            return this;
        }
    }

    DeniedKeys(int capacity) {
        this.capacity = capacity;
    }

    /** Counts denials of a key. */
    Entry add(Id id, long denials) {
        Entry entry = index.get(id);
        if (entry == null) {
            entry = entries.size() < capacity ? fresh(id) : displaced(id);
            index.put(id, entry);
        }
        entry.count += denials;
        return entry;
    }

    /** Adds what is known to a sum over several of these. */
    void addTo(Map<Id, Entry> sum) {
        entries.forEach(entry -> sum.computeIfAbsent(entry.id, Entry::new).plus(entry));
    }

    private Entry fresh(Id id) {
        Entry entry = new Entry(id);
        entries.add(entry);
        return entry;
    }

    private Entry displaced(Id id) {
        Entry entry = oneOfTheLeast();
        index.remove(entry.id);
        entry.id = id;
        entry.excess = entry.count;
        return entry;
    }

    private Entry oneOfTheLeast() {
        for (int i = 0; i < capacity; i++) {
            hand = (hand + 1) % capacity;
            if (entries.get(hand).count <= least) {
                return entries.get(hand);
            }
        }
        Entry found = entries.get(hand);
        for (Entry entry : entries) {
            found = entry.count < found.count ? entry : found;
        }
        least = found.count;
        return found;
    }
}
