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

    /** A text, then its signature. Each kind of text has a form of its own, so that none is taken for another one. */
    String signed(String text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return text + " " + HexFormat.of().formatHex(mac.doFinal((group + "\t" + text).getBytes(UTF_8)));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, missing);
        }
    }

    /** The text before a signature; throws {@link IllegalArgumentException} unless that is its signature. */
    String verified(String signed) {
        String text = signed.substring(0, Math.max(0, signed.lastIndexOf(' ')));
        require(MessageDigest.isEqual(signed(text).getBytes(UTF_8), signed.getBytes(UTF_8)));
        return text;
    }

    /** Throws an {@link IllegalArgumentException} unless what is published fits its signature. */
    static void require(boolean fits) {
        if (!fits) {
            throw new IllegalArgumentException("RL-502 what is published has no signature, or one that does not fit;"
                    + " publish it with the limiter.control.secret of the instances");
        }
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
