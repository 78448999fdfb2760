package io.limiter.internal.control;

import io.limiter.PartitionKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * What operators decided for one key under one policy (an override), or for a policy, a rule or everything (a switch), until a
 * time. In Redis it is one line.
 *
 * @param revision when, by the time of Redis in microseconds; later ones have later times
 * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}
 * @param key of an override, as in the names of states; empty for a switch
 * @param kind what it does
 * @param limits of an override with other limits; else empty
 * @param untilMicros when it ends, by the time of Redis
 * @param author who decided it
 * @param note why; may be empty
 * @param signature empty for none
 */
public record Directive(
        long revision,
        String target,
        String key,
        Kind kind,
        String limits,
        long untilMicros,
        String author,
        String note,
        String signature) {
    /** The target of a switch for everything. */
    public static final String ALL = "all";

    private static final String KIND = "directive";
    private static final String POLICY = "policy:";
    private static final String RULE = "rule:";
    private static final int LONGEST_LINE = 200;
    private static final int LONGEST_KEY = 512;
    private static final int LONGEST_LIMITS = 500;

    /** What a directive does. */
    public enum Kind {
        /** An override: other limits. */
        LIMITS,
        /** An override: not limited. */
        UNLIMITED,
        /** An override: denied. */
        BLOCKED,
        /** A switch: not counted. */
        OFF,
        /** A switch: counted, and never denied. */
        SHADOW,
        /** A switch for everything: denied. */
        DENY,
        /** There is none any more. */
        REMOVED;

        /**
         * That of a word.
         *
         * @throws IllegalArgumentException if there is none
         */
        public static Kind of(String word) {
            for (Kind kind : values()) {
                if (kind.text().equals(word)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("RL-503 '" + Texts.shown(word)
                    + "' is no kind of override or switch; write limits, unlimited, blocked, off, shadow or deny");
        }

        /** The word for it. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks how the parts fit together. */
    public Directive {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        Texts.line("the limits", limits, LONGEST_LIMITS);
        require(
                target.equals(ALL) || target.matches("(policy|rule):[A-Za-z0-9._-]{1,64}"),
                "a target is policy:NAME, rule:NAME or all");
        boolean isOverride = kind == Kind.LIMITS || kind == Kind.UNLIMITED || kind == Kind.BLOCKED;
        require(
                kind == Kind.REMOVED || isOverride != key.isEmpty(),
                "limits, unlimited and blocked are for the key of a caller, and off, shadow and deny for all of them");
        require(!isOverride || target.startsWith(POLICY), "an override is for a key of a policy: write policy:NAME");
        require(kind != Kind.DENY || target.equals(ALL), "only everything can be denied: write the target all");
        require(kind != Kind.SHADOW || !target.equals(ALL), "write the rule or policy that is to shadow");
        require((kind == Kind.LIMITS) != limits.isEmpty(), "limits belong to an override with other limits");
        if (!key.isEmpty()) {
            checkKey(key);
        }
    }

    private static void require(boolean right, String text) {
        if (!right) {
            throw new IllegalArgumentException("RL-503 " + text);
        }
    }

    /** A stand-in for a missing part is another client each time; it can't have what one of them was given. */
    private static void checkKey(String key) {
        boolean hasStandIn = key.startsWith("@") || key.contains(":@");
        require(
                key.length() <= LONGEST_KEY
                        && !hasStandIn
                        && !key.equals(PartitionKey.global().canonical()),
                "a key is that of one caller, without @ and not *, of at most " + LONGEST_KEY + " characters");
        PartitionKey.parse(key);
    }

    /** What tells it from others: a later one with the same id replaces it. */
    public String id() {
        return target + " " + key;
    }

    /** The policy of an override or a switch; empty for another target. */
    public String policy() {
        return target.startsWith(POLICY) ? target.substring(POLICY.length()) : "";
    }

    /** The rule of a switch; empty for another target. */
    public String rule() {
        return target.startsWith(RULE) ? target.substring(RULE.length()) : "";
    }

    /** Whether it makes calls uncounted, or shadows. */
    public boolean isLoosening() {
        return kind == Kind.UNLIMITED || kind == Kind.OFF || kind == Kind.SHADOW;
    }

    /** The same with a signature. */
    public Directive signed(Signer signer) {
        return new Directive(
                revision, target, key, kind, limits, untilMicros, author, note, signer.sign(KIND, fields()));
    }

    /** Checks the signature, as {@link Signer#check} does. */
    public void check(Signer signer, boolean isRequired) {
        signer.check(isRequired, signature, KIND, fields());
    }

    private String[] fields() {
        return new String[] {
            Long.toString(revision), target, key, kind.text(), limits, Long.toString(untilMicros), author, note
        };
    }

    /** As it is in Redis. */
    public String record() {
        return String.join("\t", fields()) + "\t" + signature;
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Directive of(String record) {
        String[] fields = record.split("\t", -1);
        require(
                fields.length == 9
                        && fields[0].matches("[0-9]{1,16}")
                        && fields[5].matches("[0-9]{1,16}")
                        && fields[8].matches("[0-9a-f]{0,64}"),
                "an override or switch has a form that this version does not know: " + Texts.shown(record));
        return new Directive(
                Long.parseLong(fields[0]),
                fields[1],
                fields[2],
                Kind.of(fields[3]),
                fields[4],
                Long.parseLong(fields[5]),
                fields[6],
                fields[7],
                fields[8]);
    }

    /** For people, with its end, who decided it and why. */
    public String described() {
        return this + " until " + Instant.EPOCH.plus(untilMicros, ChronoUnit.MICROS) + " by " + author
                + (note.isEmpty() ? "" : " (" + note + ")");
    }

    /** For people, without when and by whom. */
    @Override
    public String toString() {
        return kind.text() + " " + id().strip() + (limits.isEmpty() ? "" : " " + limits);
    }
}
