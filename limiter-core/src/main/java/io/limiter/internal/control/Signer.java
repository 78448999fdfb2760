package io.limiter.internal.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Signs what is published with {@code limiter.control.secret}. Thread-safe. */
public final class Signer {
    private static final String ALGORITHM = "HmacSHA256";

    private final @Nullable SecretKeySpec key;
    private final String group;

    /** @param secret null where nothing is signed */
    public Signer(String group, @Nullable String secret) {
        this.group = group;
        this.key = secret == null ? null : new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    }

    /** Whether there is a secret. */
    public boolean hasSecret() {
        return key != null;
    }

    /** The signature of a kind of record and its fields; empty without a secret. */
    public String sign(String kind, String... fields) {
        if (key == null) {
            return "";
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            add(mac, "limiter-control-1");
            add(mac, group);
            add(mac, kind);
            for (String field : fields) {
                add(mac, field);
            }
            return HexFormat.of().formatHex(mac.doFinal());
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, missing);
        }
    }

    /** With its length, so that no two lists of fields have the same bytes. */
    private static void add(Mac mac, String field) {
        byte[] bytes = field.getBytes(StandardCharsets.UTF_8);
        mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
        mac.update(bytes);
    }

    /**
     * Checks a signature.
     *
     * @param isRequired whether a record without one is refused, also where there is no secret
     * @throws IllegalArgumentException if it does not fit
     */
    public void check(boolean isRequired, String signature, String kind, String... fields) {
        if (key == null && isRequired) {
            throw new IllegalArgumentException("RL-502 a " + kind + " needs a signature here, because the user of this"
                    + " application may write control keys in Redis, or Redis is older than 7; set"
                    + " limiter.control.secret, the same for instances and publishers, or restrict the user");
        }
        byte[] given = signature.getBytes(StandardCharsets.UTF_8);
        if (key != null && !MessageDigest.isEqual(given, sign(kind, fields).getBytes(StandardCharsets.UTF_8))) {
            throw new IllegalArgumentException("RL-502 a " + kind
                    + (signature.isEmpty() ? " has no signature" : " has a signature that does not fit")
                    + "; publish it with the limiter.control.secret of the instances");
        }
    }
}
