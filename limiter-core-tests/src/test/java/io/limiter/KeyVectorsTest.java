package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.kit.Vectors;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keys of policies and clients that look alike. */
class KeyVectorsTest {
    @Test
    void eachHasItsOwnAndNoneBreaksOut() {
        List<String[]> rows = Vectors.rows(KeyVectorsTest.class, "keys.txt");
        Set<String> keys = new HashSet<>();
        for (String[] columns : rows) {
            Policy policy = Policy.of(columns[0], Limit.slidingList(1, Duration.ofSeconds(1)));
            PartitionKey client = PartitionKey.of(Vectors.unescaped(columns[1]));
            assertEquals(columns[2], policy.name() + ":" + client.canonical());
            assertEquals(client, PartitionKey.parse(client.canonical()));
            keys.add(columns[2]);
        }
        assertEquals(15, rows.size());
        assertEquals(15, keys.size());
    }

    @Test
    void anEncodedKeyIsReadBack() {
        PartitionKey longOne = PartitionKey.builder()
                .add("192.0.2.1")
                .add("user", "a:b@c=d e" + "x".repeat(PartitionKey.MAX_PART))
                .add("header.x-api-key", "a+b/c==")
                .add("k".repeat(PartitionKey.MAX_PART + 1), "")
                .addStandIn("2001:db8::/64")
                .addStandIn("")
                .build();
        for (PartitionKey key : List.of(longOne, PartitionKey.global(), PartitionKey.of(""))) {
            assertEquals(key, PartitionKey.parse(key.canonical()));
        }
        for (int c = 0; c < 0x180; c++) {
            PartitionKey key = PartitionKey.of(String.valueOf((char) c));
            assertEquals(key, PartitionKey.parse(key.canonical()));
        }
    }

    @Test
    void whatNoKeyIsEncodedLikeIsRefused() {
        for (String wrong : List.of(
                "",
                "a::b",
                "a:",
                "*:a",
                "2001:db8::/64",
                "a b",
                "alice@example.com",
                "a%2",
                "a%2f",
                "%41",
                "%2D",
                "%30",
                "%5F",
                "user=",
                "=alice",
                "a=b=c",
                "@",
                "@user=alice",
                "~~",
                "~abc",
                "x".repeat(PartitionKey.MAX_PART + 1),
                "limiter:{vote:a}:10000000:fixed1")) {
            assertThrows(IllegalArgumentException.class, () -> PartitionKey.parse(wrong), wrong);
        }
    }
}
