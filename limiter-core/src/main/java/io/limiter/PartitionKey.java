package io.limiter;

import io.limiter.internal.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Whose quota: ordered parts, such as a client address, a user or an API key, in one canonical encoding. Two keys are
 * equal exactly when their parts are. Immutable.
 *
 * <p>The encoding is ASCII and can't be forged by what a part contains: every byte outside {@code A-Z a-z 0-9 . _ -} is
 * percent-encoded (lone surrogates too, as the three bytes they would have), parts are joined by {@code :}, an empty
 * part is {@code ~}, and a part of more than {@value #MAX_PART} encoded characters is replaced by {@code ~} and the first
 * 128 bits of the SHA-256 of its encoding. The key without parts, a shared quota, is {@code *}. A part that replaces a
 * missing one starts with {@code @}. A part with a kind is encoded as the kind, {@code =}, and its text ({@code
 * user=alice}). None of
 * {@code ~ * @ : =} can come from a part's own text.
 */
public final class PartitionKey implements Comparable<PartitionKey> {
    /** The longest encoding of a part that is kept as it is. */
    public static final int MAX_PART = 64;

    private static final PartitionKey GLOBAL = new PartitionKey("*");
    /** The result of {@link #encoded}: percent signs only before bytes that must be encoded. */
    private static final Pattern ENCODED = Pattern.compile(
            "~([0-9a-f]{32})?|([A-Za-z0-9._-]|%[0189A-F][0-9A-F]|%2[0-9A-CF]|" + "%3[A-F]|%40|%5[B-E]|%60|%7[B-F])+");

    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    // Different in each JVM: with the hash of a String anybody could make keys that collide.
    private static final long SEED = ThreadLocalRandom.current().nextLong();
    private static final long FACTOR = ThreadLocalRandom.current().nextLong() | 1;

    private final String canonical;
    /** 0 until it is known. Kept here, because finding a key in a table would otherwise touch two more objects. */
    private int hash;

    private PartitionKey(String canonical) {
        this.canonical = canonical;
    }

    /** The key of one part. */
    public static PartitionKey of(String part) {
        return new PartitionKey(encoded(part));
    }

    /** The key of several parts, in their order; {@link #global()} when there is none. */
    public static PartitionKey of(List<String> parts) {
        Builder key = new Builder();
        parts.forEach(key::add);
        return key.build();
    }

    /**
     * Decodes a key from its encoding, as it is in the names of states in Redis.
     *
     * @param canonical the result of {@link #canonical}
     * @throws IllegalArgumentException if no key has this encoding; the message names the part
     */
    public static PartitionKey parse(String canonical) {
        if (canonical.equals("*")) {
            return GLOBAL;
        }
        for (String part : canonical.split(":", -1)) {
            String[] texts = part.startsWith("@") ? new String[] {part.substring(1)} : part.split("=", 2);
            for (String text : texts) {
                // The length first: the pattern is for short texts.
                if (text.length() > MAX_PART || !ENCODED.matcher(text).matches()) {
                    throw new IllegalArgumentException("'" + text + "' in '" + canonical
                            + "' is not a part of an encoded key; it has 1 to " + MAX_PART
                            + " of A-Z a-z 0-9 . _ - and other bytes as %2F, or is ~ when empty, and ~ with 32"
                            + " hexadecimal digits when longer");
                }
            }
        }
        return new PartitionKey(canonical);
    }

    /** The key of a quota that all callers share. */
    public static PartitionKey global() {
        return GLOBAL;
    }

    /** A builder of a key whose parts come one by one. */
    public static Builder builder() {
        return new Builder();
    }

    /** The canonical encoding: printable ASCII without spaces and braces. */
    public String canonical() {
        return canonical;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || other instanceof PartitionKey that && canonical.equals(that.canonical);
    }

    /** By the canonical encoding. */
    @Override
    public int compareTo(PartitionKey other) {
        return canonical.compareTo(other.canonical);
    }

    @Override
    public int hashCode() {
        int known = hash;
        if (known == 0) {
            known = hashed(canonical);
            hash = known;
        }
        return known;
    }

    /**
     * The hash of a policy and this key, for tables of states. All limits of a policy have the same, so their states for a key are
     * adjacent. For this library.
     *
     * @param ofPolicy that of the policy's name
     */
    public int hashWith(int ofPolicy) {
        int both = ofPolicy * 0x85EBCA6B ^ hashCode();
        return both ^ both >>> 16;
    }

    /** Eight characters, which are ASCII, at a time. */
    private static int hashed(String text) {
        long hash = SEED;
        long word = 0;
        for (int i = 0; i < text.length(); i++) {
            word = word << 8 | text.charAt(i);
            if ((i & 7) == 7) {
                hash = mixed(hash ^ word);
                word = 0;
            }
        }
        hash = mixed(hash ^ word);
        return (int) (hash ^ hash >>> 32);
    }

    /**
     * Both halves of the product: in one of them a changed bit would change known bits only, which the next word could
     * cancel.
     */
    private static long mixed(long value) {
        return value * FACTOR ^ Math.multiplyHigh(value, FACTOR);
    }

    @Override
    public String toString() {
        return canonical;
    }

    private static String encoded(String part) {
        if (part.isEmpty()) {
            return "~";
        }
        String encoded = wholeEncoded(part);
        return encoded.length() <= MAX_PART ? encoded : "~" + KeyHash.PLAIN.of(encoded);
    }

    private static String wholeEncoded(String part) {
        return isPlain(part) ? part : percentEncoded(part);
    }

    private static boolean isPlain(String part) {
        for (int i = 0; i < part.length(); i++) {
            if (!isUnreserved(part.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isUnreserved(int c) {
        return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '-';
    }

    private static String percentEncoded(String part) {
        StringBuilder encoded = new StringBuilder(part.length() + 16);
        for (int i = 0; i < part.length(); ) {
            int c = part.codePointAt(i);
            i += Character.charCount(c);
            if (isUnreserved(c)) {
                encoded.append((char) c);
            } else if (c < 128) {
                percent(encoded, c);
            } else if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                // A lone surrogate has no UTF-8 form; a replacement character would make all of them one client.
                percent(encoded, 0xE0 | (c >> 12));
                percent(encoded, 0x80 | ((c >> 6) & 0x3F));
                percent(encoded, 0x80 | (c & 0x3F));
            } else {
                for (byte b : Character.toString(c).getBytes(StandardCharsets.UTF_8)) {
                    percent(encoded, b);
                }
            }
        }
        return encoded.toString();
    }

    private static void percent(StringBuilder encoded, int b) {
        encoded.append('%');
        HEX.toHexDigits(encoded, (byte) b);
    }

    /** Collects the parts of a key. Not thread-safe. */
    public static final class Builder {
        // Most keys have one part, and need no buffer.
        private String canonical = "";

        private Builder() {}

        /** Adds a part. */
        public Builder add(String part) {
            return append(encoded(part));
        }

        /**
         * Adds a part of a kind, such as {@code user} or {@code header.x-api-key}. It equals no part of another kind, and
         * none that is added without one: a user called like an address is not that address.
         */
        public Builder add(String kind, String part) {
            return append(encoded(kind) + "=" + encoded(part));
        }

        /**
         * Adds a part of a kind that is a secret, such as an API key: {@code ~} and 128 bits of its hash replace it,
         * whatever its length. In an application, {@code Limiter.keyHash()} is the hash that rules use.
         */
        public Builder addSecret(String kind, String secret, KeyHash hash) {
            return append(encoded(kind) + "=~" + hash.of(wholeEncoded(secret)));
        }

        /**
         * Adds a part that replaces a missing one (the client's address where there is no user). It never equals the
         * same text given by {@link #add}, so no client can claim the stand-in of another.
         */
        public Builder addStandIn(String part) {
            return append("@" + encoded(part));
        }

        /** The key; {@link #global()} when nothing was added. */
        public PartitionKey build() {
            return canonical.isEmpty() ? GLOBAL : new PartitionKey(canonical);
        }

        private Builder append(String encoded) {
            canonical = canonical.isEmpty() ? encoded : canonical + ":" + encoded;
            return this;
        }
    }
}
