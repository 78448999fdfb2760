package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.kit.Repeats;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The sketch of denied keys beside exact counts of the same traffic. */
class DeniedKeysTest {
    private static final int CAPACITY = 50;

    private final DeniedKeys sketch = new DeniedKeys(CAPACITY);
    private final Map<DeniedKeys.Id, Long> exact = new HashMap<>();

    private void deny(String key, long denials) {
        DeniedKeys.Id id = new DeniedKeys.Id("p", PartitionKey.of(key), false);
        sketch.add(new DeniedKeys.Entry(id, denials, 0, Decision.Source.REDIS, null, 0, 0));
        exact.merge(id, denials, Long::sum);
    }

    private Map<DeniedKeys.Id, DeniedKeys.Entry> entries() {
        Map<DeniedKeys.Id, DeniedKeys.Entry> all = new HashMap<>();
        sketch.entries().forEach(entry -> all.put(entry.id(), entry));
        return all;
    }

    @Test
    void fewKeysAreCountedExactly() {
        for (int i = 0; i < CAPACITY; i++) {
            deny("key-" + i, i + 1);
        }
        assertEquals(CAPACITY, entries().size());
        entries().forEach((id, entry) -> {
            assertEquals(exact.get(id), entry.count());
            assertEquals(0, entry.excess());
        });
    }

    /** What Space-Saving promises: the sum is kept, no count is too small, and a key with more than n / capacity is there. */
    @Test
    void ofManyKeysTheBusiestAreThereAndNoCountIsTooSmall() {
        SplittableRandom random = new SplittableRandom(18);
        for (int run = 0; run < Repeats.of(4, 20); run++) {
            long denials = 0;
            for (int i = 0; i < 20_000; i++) {
                long weight = random.nextInt(4) == 0 ? 64 : 1;
                denials += weight;
                deny(random.nextInt(3) == 0 ? "heavy-" + random.nextInt(10) : "spray-" + random.nextInt(), weight);
            }
            Map<DeniedKeys.Id, DeniedKeys.Entry> found = entries();
            assertEquals(CAPACITY, found.size());
            assertEquals(
                    exact.values().stream().mapToLong(n -> n).sum(),
                    found.values().stream().mapToLong(entry -> entry.count()).sum());
            found.forEach((id, entry) -> {
                assertTrue(entry.count() >= exact.get(id), id + " " + entry.count());
                assertTrue(entry.count() - entry.excess() <= exact.get(id), id + " " + entry.excess());
            });
            long all = exact.values().stream().mapToLong(n -> n).sum();
            exact.forEach((id, count) -> assertTrue(count <= all / CAPACITY || found.containsKey(id), "" + id));
            assertTrue(denials > 0
                    && found.keySet().stream()
                                    .filter(id -> id.key().canonical().startsWith("heavy"))
                                    .count()
                            == 10);
        }
    }
}
