package io.limiter.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.config.ConfigException;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RedisSettings;
import io.limiter.internal.rule.KeyForm;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeyHashTest {
    private static final KeyHash KEYED = KeyHash.keyed("key");

    private static String secret(String text, KeyHash hash) {
        return PartitionKey.builder().addSecret("k", text, hash).build().canonical();
    }

    /** As others compute it: printf text | openssl dgst -sha256 (-hmac key). Rolling out another hash is a new quota for all. */
    @Test
    void itIsSha256AndHmacSha256() {
        assertEquals("k=~ba7816bf8f01cfea414140de5dae2223", secret("abc", KeyHash.PLAIN));
        assertEquals("k=~9c196e32dc0175f86f4b1cb89289d661", secret("abc", KEYED));
        assertEquals(
                PartitionKey.parse(secret("abc", KEYED)), PartitionKey.parse("k=~9c196e32dc0175f86f4b1cb89289d661"));
    }

    @Test
    void differentTextsAndSecretsHaveDifferentHashes() {
        List<String> texts = List.of(
                "", "a", "A", "a ", "%", "%25", ":", "\u00e9", "\ud800", "\udc00", "x".repeat(64), "x".repeat(65));
        Set<String> all = new HashSet<>();
        for (KeyHash hash : List.of(KEYED, KeyHash.keyed("kez"), KeyHash.PLAIN)) {
            texts.forEach(text -> all.add(secret(text, hash)));
        }
        assertEquals(3 * 12, all.size());
        assertNotEquals(KEYED.check(), KeyHash.PLAIN.check());
        assertEquals(KEYED.check(), KeyHash.keyed("key").check());
    }

    @Test
    void manyThreadsHashAlike() {
        Set<String> hashes = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 2_000).parallel().forEach(i -> hashes.add(secret("abc", KEYED)));
        assertEquals(Set.of("k=~9c196e32dc0175f86f4b1cb89289d661"), hashes);
    }

    /** Of every kind it is decided here whether it may be stored as it is. */
    @Test
    void whatAClientSendsAsACredentialIsASecret() {
        assertEquals(
                "[IP, USER, PATH, CLASS]",
                Arrays.stream(KeyPart.Kind.values())
                        .filter(kind -> !kind.isSecret())
                        .toList()
                        .toString());
    }

    @Test
    void aFormReadsSecretsInClear() {
        KeyForm form = KeyForm.of(List.of(KeyForm.ADDRESS, KeyForm.part("header.x-api-key", false, true)));
        assertEquals("<address>:header.x-api-key=<secret>", form.toString());
        PartitionKey key = PartitionKey.builder()
                .add("192.0.2.1")
                .addSecret("header.x-api-key", "a:b=%2F\n~", KEYED)
                .build();
        assertEquals(key, form.read("192.0.2.1:header.x-api-key=a:b=%2F\n~", KEYED));
        assertTrue(form.fits(key));
        assertEquals(key, form.read(key.canonical(), KeyHash.PLAIN), "a hash is taken as it is");
        for (String other : Arrays.asList(
                "192.0.2.1", "192.0.2.1:header.x-api-key=", "a:b:header.x-api-key=c", "header.x-api-key=c")) {
            assertNull(form.read(other, KEYED), other);
        }
        assertNull(KeyForm.of(List.of(KeyForm.part("user", false, false))).read("user=ann", KEYED));
        assertNull(KeyForm.ANY.read("x", KEYED));
    }

    @Test
    void secretsAreCheckedAndNeverShown() {
        String good = "0123456789abcdef";
        String message = assertThrows(ConfigException.class, () -> withSecret("short-s3cret"))
                .getMessage();
        assertTrue(!message.contains("s3cret"), message);
        assertTrue(!withSecret(good).toString().contains(good));
        assertEquals(KeyHash.keyed(good).check(), withSecret(good).keyHash().check());
        assertEquals(
                KeyHash.PLAIN,
                LimiterConfig.builder().build().settings().redis().keyHash());
    }

    private static RedisSettings withSecret(String secret) {
        return LimiterConfig.builder()
                .property("limiter.redis.key-secret", secret)
                .build()
                .settings()
                .redis();
    }
}
