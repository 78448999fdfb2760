package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs what a group publishes with {@code limiter.control.secret}. Thread-safe. */
final class Signer {
    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;
    private final String group;

    Signer(String group, String secret) {
        this.group = group;
        this.key = new SecretKeySpec(secret.getBytes(UTF_8), ALGORITHM);
    }

    /** The signature of a text; one kind is never taken for another one. */
    String sign(String kind, String text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return HexFormat.of()
                    .formatHex(mac.doFinal(String.join("\t", group, kind, text).getBytes(UTF_8)));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, missing);
        }
    }

    /** Throws an {@link IllegalArgumentException} unless that is the signature of a text. */
    void check(String kind, String text, String signature) {
        if (!MessageDigest.isEqual(sign(kind, text).getBytes(UTF_8), signature.getBytes(UTF_8))) {
            throw misfit();
        }
    }

    /** What is published does not fit its signature. */
    static IllegalArgumentException misfit() {
        return new IllegalArgumentException("RL-502 what is published has no signature, or one that does not fit;"
                + " publish it with the limiter.control.secret of the instances");
    }

    /** The hash of a text. */
    static String hash(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("each JDK has SHA-256", missing);
        }
    }
}
