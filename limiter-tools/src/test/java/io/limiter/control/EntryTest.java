package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys as operators write them. */
class EntryTest {
    @Test
    void aKeyIsThatOfOneCaller() {
        assertEquals("192.0.2.1", Entry.key("192.0.2.1").canonical());
        assertEquals(PartitionKey.of("2001:db8::/64"), Entry.key("2001:db8::7"));
        assertEquals("user=alice", Entry.key("user:alice").canonical());
        assertEquals("user=alice", Entry.key("user=alice").canonical());
        assertEquals(
                Entry.key("user:tenant=5"),
                PartitionKey.builder().add("user", "tenant=5").build());
        assertEquals(
                "header.x-api-key=~" + "8d".repeat(16),
                Entry.key("header.x-api-key=~" + "8d".repeat(16)).canonical());
    }

    @Test
    void anAddressIsWrittenAsThatOfAClient() {
        assertEquals("192.0.2.1", Entry.key("192.0.2.1/32").canonical());
        assertEquals("192.0.2.1", Entry.key("::ffff:192.0.2.1").canonical());
        assertEquals("192.0.2.1", Entry.key("64:ff9b::c000:201").canonical());
        assertEquals("192.0.2.1", Entry.key("64:ff9b::c000:201/128").canonical());
        assertEquals(PartitionKey.of("2001:db8::7"), Entry.key("2001:db8::7/128"));
        assertEquals(PartitionKey.of("2001:db8::/56"), Entry.key("2001:db8::7/56"));
        for (String network : List.of(
                "203.0.113.0/24", "203.0.113.7/31", "::ffff:203.0.113.0/120", "64:ff9b::/96", "192.0.2.1/24/32")) {
            String refusal =
                    String.valueOf(assertThrows(IllegalArgumentException.class, () -> Entry.key(network), network)
                            .getMessage());
            assertTrue(refusal.contains("limiter.deny.addresses"), refusal);
        }
    }

    @Test
    void aSecretInClearIsRefused() {
        for (String key : List.of(
                "header:X:secret",
                "header.x-api-key:s3cr3t",
                "header.x-api-key=s3cr3t",
                "header:X-Api-Key=k1",
                "Header.x-api-key=s3cr3t",
                "user=alice:cookie:sid=abc",
                "query:token=abc",
                "BEARER:abc",
                "cookie.sid=abc",
                "session:abc",
                "bearer=abc",
                "192.0.2.1:query.token=abc")) {
            assertThrows(IllegalArgumentException.class, () -> Entry.key(key), key);
        }
    }

    @Test
    void aStandInOrTheSharedKeyIsNoCaller() {
        Instant end = Instant.EPOCH;
        for (String key : List.of("@192.0.2.1", "user=alice:@192.0.2.1", "*")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new Entry("policy:export", key, "unlimited", end, "op", ""),
                    key);
        }
    }
}
