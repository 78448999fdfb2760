package io.limiter.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.PartitionKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What an operator decided: a text for all instances; or until a time something for one key under one policy (an override), or for a
 * policy, a rule or everything (a switch). In Redis it is a record of nine fields; the last one, the value, may have any characters.
 *
 * @param micros when, by the time of Redis; later ones have later times
 * @param kind what it does
 * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}; of a text {@code version:NUMBER}
 * @param key of an override, as in the names of states; else empty
 * @param untilMicros when it ends, by the time of Redis; 0 for a text
 * @param author who decided it
 * @param note why; may be empty
 * @param value the text, or the limits of an override with other limits; else empty
 * @param signature empty for none
 */
public record Directive(
        long micros,
        Kind kind,
        String target,
        String key,
        long untilMicros,
        String author,
        String note,
        String value,
        String signature) {
    /** The target of a switch for everything. */
    public static final String ALL = "all";

    private static final String POLICY = "policy:";
    private static final String RULE = "rule:";
    private static final String VERSION = "version:";
    private static final int FIELDS = 9;
    private static final int LONGEST_LINE = 200;
    private static final int LONGEST_KEY = 512;
    private static final int LONGEST_LIMITS = 500;
    private static final String NUMBER = "[0-9]{1,16}";
    /** Kind, target and key. */
    private static final Pattern FITS = Pattern.compile("((limits|unlimited|blocked) policy:%1$s .+"
            .concat("|(off|shadow) (policy|rule):%1$s |(off|deny) all |removed (all|(policy|rule):%1$s) .*")
            .concat("|(text|candidate) version:[0-9]{1,15} )")
            .formatted("[A-Za-z0-9._-]{1,64}"));

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
        REMOVED,
        /** A text for all instances. */
        TEXT,
        /** A text about which instances are only asked, with a signature of its own, so that nobody can put it into force. */
        CANDIDATE;

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
            throw new IllegalArgumentException("RL-503 '" + Texts.plain(word)
                    + "' is no kind of override or switch; write limits, unlimited, blocked, off, shadow or deny");
        }

        /** The word for it. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks how the parts fit together. */
    public Directive {
        boolean isText = isText(kind);
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        require(
                FITS.matcher(kind.text() + " " + target + " " + key).matches(),
                "an override is limits, unlimited or blocked, for a key of policy:NAME; a switch is off or shadow for"
                        + " policy:NAME or rule:NAME, or off or deny for all of them, and has no key");
        require(isText || (kind == Kind.LIMITS) != value.isEmpty(), "limits belong to an override with other limits");
        if (isText) {
            checkText(value);
        } else {
            Texts.line("the limits", value, LONGEST_LIMITS);
        }
        Texts.line("the key", key, LONGEST_KEY);
        if (!key.isEmpty()) {
            checkKey(key);
        }
    }

    private static boolean isText(Kind kind) {
        return kind == Kind.TEXT || kind == Kind.CANDIDATE;
    }

    /** Whether it is a text for all instances. */
    public boolean isText() {
        return isText(kind);
    }

    /** A text, without a signature. */
    public static Directive text(Kind kind, long version, long micros, String author, String note, String text) {
        return new Directive(micros, kind, VERSION + version, "", 0, author, note, text, "");
    }

    private static void require(boolean right, String text) {
        if (!right) {
            throw new IllegalArgumentException("RL-503 " + text);
        }
    }

    /**
     * Checks the size of a published text, and its characters.
     *
     * @throws IllegalArgumentException if it is not taken
     */
    public static void checkText(String text) {
        require(
                text.length() <= ControlKeys.MOST_BYTES && text.getBytes(UTF_8).length <= ControlKeys.MOST_BYTES,
                "the text has more than " + ControlKeys.MOST_BYTES + " bytes; publish what differs only");
        require(
                text.chars().noneMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t' && c != '\r'),
                "the text has control characters; remove them");
    }

    /** A stand-in for a missing part is another client each time; it can't have what one of them was given. */
    private static void checkKey(String key) {
        boolean hasStandIn = key.startsWith("@") || key.contains(":@");
        require(
                !hasStandIn && !key.equals(PartitionKey.global().canonical()),
                "a key is that of one caller, without @ and not *");
        PartitionKey.parse(key);
    }

    /** What tells it from others: a later one with the same id replaces it. */
    public String id() {
        return target + " " + key;
    }

    private String after(String start) {
        return target.startsWith(start) ? target.substring(start.length()) : "";
    }

    /** The policy of an override or a switch; empty for another target. */
    public String policy() {
        return after(POLICY);
    }

    /** The rule of a switch; empty for another target. */
    public String rule() {
        return after(RULE);
    }

    /** The number of a text. */
    public long version() {
        return Long.parseLong(after(VERSION));
    }

    /** The name of a text in messages. */
    public String source() {
        return "published version " + version();
    }

    /** Whether it is about all callers. */
    public boolean isSwitch() {
        return key.isEmpty();
    }

    /** Whether it makes calls uncounted, or shadows. */
    public boolean isLoosening() {
        return kind == Kind.UNLIMITED || kind == Kind.OFF || kind == Kind.SHADOW;
    }

    private String record(String signed) {
        return String.join(
                "\t",
                Long.toString(micros),
                kind.text(),
                target,
                key,
                Long.toString(untilMicros),
                author,
                note,
                signed,
                value);
    }

    /** As it is in Redis. */
    public String record() {
        return record(signature);
    }

    /** The same with a signature. */
    public Directive signed(Signer signer) {
        return new Directive(micros, kind, target, key, untilMicros, author, note, value, signer.sign(record("")));
    }

    /** Checks the signature, as {@link Signer#check} does. */
    public Directive checked(Signer signer, boolean isRequired) {
        signer.check(isRequired, signature, record(""));
        return this;
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Directive of(String record) {
        String[] fields = record.split("\t", FIELDS);
        require(
                fields.length == FIELDS
                        && fields[0].matches(NUMBER)
                        && fields[4].matches(NUMBER)
                        && fields[7].matches("[0-9a-f]{0,64}"),
                "what is published has a form that this version does not know: " + Texts.plain(record));
        return new Directive(
                Long.parseLong(fields[0]),
                Kind.of(fields[1]),
                fields[2],
                fields[3],
                Long.parseLong(fields[4]),
                fields[5],
                fields[6],
                fields[8],
                fields[7]);
    }

    /** A time of Redis. */
    public static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** For people, with its end, who decided it and why. */
    public String described() {
        return this + " until " + time(untilMicros) + " by " + author + (note.isEmpty() ? "" : " (" + note + ")");
    }

    /** For people, without when and by whom. */
    @Override
    public String toString() {
        return kind.text() + " " + id().strip() + (kind == Kind.LIMITS ? " " + value : "");
    }
}
