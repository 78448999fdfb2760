package io.limiter.internal.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.internal.KeyHash;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyFormTest {
    private static final KeyForm ADDRESS = KeyForm.of(List.of(KeyForm.ADDRESS));
    private static final KeyForm BOTH = KeyForm.of(List.of(KeyForm.ADDRESS, KeyForm.part("user", false, false)));

    @Test
    void keysOfTheFormFit() {
        assertTrue(ADDRESS.fits(PartitionKey.of("2001:db8::/64")));
        assertTrue(ADDRESS.fits(PartitionKey.of("!unknown")));
        assertTrue(BOTH.fits(
                PartitionKey.builder().add("192.0.2.1").add("user", "a,b:c").build()));
        assertTrue(BOTH.fits(
                PartitionKey.builder().add("192.0.2.1").addStandIn("192.0.2.1").build()));
        assertTrue(KeyForm.GLOBAL.fits(PartitionKey.global()));
        KeyForm odd = KeyForm.of(List.of(KeyForm.part("cookie.a!b", false, false)));
        assertTrue(odd.fits(PartitionKey.builder().add("cookie.a!b", "x").build()));
        String digested = "header." + "x".repeat(100);
        assertTrue(KeyForm.of(List.of(KeyForm.part(digested, false, false)))
                .fits(PartitionKey.builder().add(digested, "x").build()));
    }

    @Test
    void othersDoNot() {
        PartitionKey address = PartitionKey.of("192.0.2.1");
        PartitionKey user = PartitionKey.builder().add("user", "alice").build();
        for (PartitionKey key : List.of(
                user,
                PartitionKey.global(),
                PartitionKey.builder().addStandIn("192.0.2.1").build(),
                PartitionKey.of(List.of("192.0.2.1", "192.0.2.1")))) {
            assertFalse(ADDRESS.fits(key), key::toString);
            assertFalse(BOTH.fits(key), key::toString);
        }
        assertFalse(BOTH.fits(address));
        assertFalse(BOTH.fits(PartitionKey.of(List.of("192.0.2.1", "alice"))));
        assertFalse(BOTH.fits(
                PartitionKey.builder().add("192.0.2.1").add("users", "alice").build()));
        assertFalse(KeyForm.GLOBAL.fits(address));
        assertFalse(KeyForm.of(List.of(KeyForm.part("user", false, false))).fits(PartitionKey.of("user")));
    }

    @Test
    void anyKeyFitsTheFormThatNobodyKnows() {
        assertTrue(KeyForm.ANY.isAny());
        assertFalse(ADDRESS.isAny());
        assertTrue(KeyForm.ANY.fits(PartitionKey.global()));
        assertTrue(KeyForm.ANY.fits(PartitionKey.of(List.of("a", "b", "c"))));
    }

    @Test
    void peopleReadIt() {
        assertEquals("<address>:user=<text>", BOTH.toString());
        assertEquals("*", KeyForm.of(List.of()).toString());
        assertEquals("<any key>", KeyForm.ANY.toString());
        assertEquals(BOTH, KeyForm.of(List.of(KeyForm.ADDRESS, KeyForm.part("user", false, false))));
        assertEquals(
                BOTH.hashCode(),
                KeyForm.of(List.of(KeyForm.ADDRESS, KeyForm.part("user", false, false)))
                        .hashCode());
        assertNotEquals(BOTH, ADDRESS);
    }

    @Test
    void aFoldedPartIsFoundInAnySpelling() {
        KeyForm form = KeyForm.of(List.of(KeyForm.ADDRESS, KeyForm.part("path.account", true, false)));
        String key = "192.0.2.1:path.account=ann";
        for (String text : List.of(key, "192.0.2.1:path.account=ANN.", "192.0.2.1:path.account= Ann")) {
            assertEquals(PartitionKey.parse(key), form.read(text, KeyHash.PLAIN), text);
        }
        PartitionKey accent = PartitionKey.builder()
                .add("192.0.2.1")
                .add("path.account", "zo\u00eb")
                .build();
        assertEquals(accent, form.read("192.0.2.1:path.account=Zo\u00cb", KeyHash.PLAIN));
        assertEquals(accent, form.read(accent.canonical(), KeyHash.PLAIN));
        String longOne = PartitionKey.builder()
                .add("192.0.2.1")
                .add("path.account", "x".repeat(200))
                .build()
                .canonical();
        assertEquals(longOne, form.read(longOne, KeyHash.PLAIN).canonical());
        assertNull(form.read("192.0.2.1", KeyHash.PLAIN));
        KeyForm secret = KeyForm.of(List.of(KeyForm.part("query.account", true, true)));
        assertEquals(
                PartitionKey.builder()
                        .addSecret("query.account", "ann", KeyHash.PLAIN)
                        .build(),
                secret.read("query.account=ANN", KeyHash.PLAIN));
        assertEquals("<address>:path.account=<folded>", form.toString());
    }
}
