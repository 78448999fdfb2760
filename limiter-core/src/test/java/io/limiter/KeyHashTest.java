package io.limiter;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Nobody can make keys that have one hash code on purpose, without knowing what this JVM adds to it. */
class KeyHashTest {
    /** Each pair of words differs in bits that cancel each other out where only one half of a product is used. */
    @Test
    void highBitsThatUndoEachOtherMakeOtherHashes() {
        Set<Integer> hashes = new HashSet<>();
        for (int key = 0; key < 1 << 12; key++) {
            int bits = key;
            List<String> parts = IntStream.range(0, 3)
                    .mapToObj(part -> IntStream.range(0, 4)
                            .mapToObj(pair ->
                                    (bits >>> 4 * part + pair & 1) == 0 ? "0aaaaaaa0aaa0aaa" : "paaaaaaapaaapaaa")
                            .reduce("", String::concat)
                            .substring(0, 63))
                    .toList();
            hashes.add(PartitionKey.of(parts).hashCode());
        }
        assertTrue(hashes.size() > (1 << 12) - 20, hashes.size() + " different hash codes");
    }

    @Test
    void stringsWithOneHashCodeMakeOtherHashes() {
        Set<Integer> hashes = new HashSet<>();
        for (int key = 0; key < 1 << 12; key++) {
            int bits = key;
            String text = IntStream.range(0, 12)
                    .mapToObj(pair -> (bits >>> pair & 1) == 0 ? "Aa" : "BB")
                    .reduce("", String::concat);
            hashes.add(PartitionKey.of(text).hashCode());
        }
        assertTrue(hashes.size() > (1 << 12) - 20, hashes.size() + " different hash codes");
    }
}
