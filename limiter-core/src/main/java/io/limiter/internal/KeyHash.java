package io.limiter.internal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Hides the secrets in keys, such as API keys and tokens, so that Redis and logs never see them: HMAC-SHA-256 with a secret of
 * the application, or SHA-256 where there is none. Equal texts have equal hashes in every instance that has the same secret.
 * Thread-safe.
 */
public final class KeyHash {
    /** Without a secret, short texts can be guessed from their hash. */
    public static final KeyHash PLAIN = new KeyHash(null);

    private static final String HMAC = "HmacSHA256";
    private static final int BYTES = 16;
    /** No encoded part contains a colon, so this is the hash of no part. */
    private static final String CHECK = "limiter:key-secret";

    private static final MessageDigest SHA_256 = sha256();
    private static final ThreadLocal<MessageDigest> DIGESTS = ThreadLocal.withInitial(KeyHash::digest);

    /** Null without a secret. One for each thread: finding a provider and setting the secret costs more than a hash. */
    private final @Nullable ThreadLocal<Mac> macs;

    private KeyHash(@Nullable ThreadLocal<Mac> macs) {
        this.macs = macs;
    }

    /**
     * Hashes with a secret.
     *
     * @param secret at least one character; its strength is that of the hashes
     */
    public static KeyHash keyed(String secret) {
        SecretKeySpec key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), HMAC);
        Mac mac = mac(key);
        return new KeyHash(ThreadLocal.withInitial(() -> copy(mac, key)));
    }

    /** A check value that is equal in instances with the same secret and does not reveal it: 32 hexadecimal digits. */
    public String check() {
        return of(CHECK);
    }

    /** The first 128 bits of the hash of an ASCII text, as hexadecimal digits. */
    public String of(String ascii) {
        byte[] bytes = ascii.getBytes(StandardCharsets.US_ASCII);
        byte[] hash = macs == null ? DIGESTS.get().digest(bytes) : macs.get().doFinal(bytes);
        return HexFormat.of().formatHex(hash, 0, BYTES);
    }

    /** Copies are cheap also where each call has a thread of its own. */
    private static Mac copy(Mac mac, SecretKeySpec secret) {
        try {
            return (Mac) mac.clone();
        } catch (CloneNotSupportedException otherProvider) {
            return mac(secret);
        }
    }

    private static Mac mac(SecretKeySpec secret) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(secret);
            return mac;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java platform has " + HMAC, impossible);
        }
    }

    private static MessageDigest digest() {
        try {
            return (MessageDigest) SHA_256.clone();
        } catch (CloneNotSupportedException otherProvider) {
            return sha256();
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
