package io.limiter.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;

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
        this.key = secret == null ? null : new SecretKeySpec(secret.getBytes(UTF_8), ALGORITHM);
    }

    /** Whether there is a secret. */
    public boolean hasSecret() {
        return key != null;
    }

    /** The signature of a record; empty without a secret. Only the last field of a record can contain what separates them. */
    public String sign(String record) {
        if (key == null) {
            return "";
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return HexFormat.of()
                    .formatHex(mac.doFinal(("limiter-control-1\t" + group + "\t" + record).getBytes(UTF_8)));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, missing);
        }
    }

    /**
     * Checks a signature.
     *
     * @param isRequired whether a record without one is refused, also where there is no secret
     * @throws IllegalArgumentException if it does not fit
     */
    public void check(boolean isRequired, String signature, String record) {
        if (key == null && isRequired) {
            throw new IllegalArgumentException(
                    "RL-502 what is published needs a signature here, because the user of this"
                            + " application may write control keys in Redis, or Redis is older than 7; set"
                            + " limiter.control.secret, the same for instances and publishers, or restrict the user");
        }
        if (key != null
                && !MessageDigest.isEqual(
                        signature.getBytes(UTF_8), sign(record).getBytes(UTF_8))) {
            throw new IllegalArgumentException("RL-502 what is published has "
                    + (signature.isEmpty() ? "no signature" : "a signature that does not fit")
                    + "; publish it with the limiter.control.secret of the instances");
        }
    }
}
