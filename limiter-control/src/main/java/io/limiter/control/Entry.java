package io.limiter.control;

import io.limiter.PartitionKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What an operator has set until a time: for one key under one policy (an override), or for a policy, a rule or everything (a switch).
 * In Redis it is a line below its own hash, which the signed text names, and it ends there when it ends.
 *
 * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}
 * @param key of an override, as in the names of states; else empty
 * @param kind what it does
 * @param limits of an override with other limits; else empty
 * @param untilMicros when it ends, by the time of Redis
 * @param author who decided it
 * @param note why; may be empty
 */
record Entry(String target, String key, Kind kind, String limits, long untilMicros, String author, String note) {
    /** The target of a switch for everything. */
    static final String ALL = "all";

    /** More bytes are no line. */
    static final int MOST_BYTES = 4_000;

    private static final String POLICY = "policy:";
    private static final String RULE = "rule:";
    private static final int FIELDS = 7;
    private static final int LONGEST_LINE = 200;
    private static final int LONGEST_KEY = 512;
    private static final int LONGEST_LIMITS = 500;
    /** Kind, target and key. */
    private static final Pattern FITS = Pattern.compile("((limits|unlimited|blocked) policy:%1$s .+"
            .concat("|(off|shadow) (policy|rule):%1$s |(off|deny) all )")
            .formatted("[A-Za-z0-9._-]{1,64}"));

    /** What it does. */
    enum Kind {
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
        DENY;

        /** That of a word; throws {@link IllegalArgumentException} if there is none. */
        static Kind of(String word) {
            for (Kind kind : values()) {
                if (kind.text().equals(word)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("RL-503 '" + Texts.plain(word)
                    + "' is no kind of override or switch; write limits, unlimited, blocked, off, shadow or deny");
        }

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks how the parts fit together. */
    Entry {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        Texts.line("the limits", limits, LONGEST_LIMITS);
        Texts.line("the key", key, LONGEST_KEY);
        Texts.require(
                FITS.matcher(kind.text() + " " + target + " " + key).matches(),
                "an override is limits, unlimited or blocked, for a key of policy:NAME; a switch is off or shadow for"
                        + " policy:NAME or rule:NAME, or off or deny for all of them, and has no key");
        Texts.require((kind == Kind.LIMITS) != limits.isEmpty(), "limits belong to an override with other limits");
        if (!key.isEmpty()) {
            checkKey(key);
        }
    }

    /** A stand-in for a missing part is another client each time; it can't have what one of them was given. */
    private static void checkKey(String key) {
        boolean hasStandIn = key.startsWith("@") || key.contains(":@");
        Texts.require(
                !hasStandIn && !key.equals(PartitionKey.global().canonical()),
                "a key is that of one caller, without @ and not *");
        PartitionKey.parse(key);
    }

    /** What tells it from others: a later one with the same id replaces it. */
    String id() {
        return target + " " + key;
    }

    private String after(String start) {
        return target.startsWith(start) ? target.substring(start.length()) : "";
    }

    /** The policy of an override or a switch; empty for another target. */
    String policy() {
        return after(POLICY);
    }

    /** The rule of a switch; empty for another target. */
    String rule() {
        return after(RULE);
    }

    /** Whether it is about all callers. */
    boolean isSwitch() {
        return key.isEmpty();
    }

    /** Whether it makes calls uncounted, or shadows. */
    boolean isLoosening() {
        return kind == Kind.UNLIMITED || kind == Kind.OFF || kind == Kind.SHADOW;
    }

    /** As it is in Redis. */
    String line() {
        return String.join("\t", target, key, kind.text(), limits, Long.toString(untilMicros), author, note);
    }

    /** Reads a line; throws {@link IllegalArgumentException} if it is none. */
    static Entry of(String line) {
        String[] fields = line.split("\t", -1);
        Texts.require(
                fields.length == FIELDS && fields[4].matches("[0-9]{1,16}"),
                "an override or switch has a form that this version does not know: " + Texts.plain(line));
        return new Entry(
                fields[0], fields[1], Kind.of(fields[2]), fields[3], Long.parseLong(fields[4]), fields[5], fields[6]);
    }

    /** When it ends. */
    Instant until() {
        return Instant.EPOCH.plus(untilMicros, ChronoUnit.MICROS);
    }

    /** For people, with who decided it and why. */
    String described() {
        return this + " by " + author + (note.isEmpty() ? "" : " (" + note + ")");
    }

    /** For people, with its end. */
    @Override
    public String toString() {
        return kind.text() + " " + id().strip() + (limits.isEmpty() ? "" : " " + limits) + " until " + until();
    }
}
