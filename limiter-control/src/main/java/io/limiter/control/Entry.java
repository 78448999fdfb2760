package io.limiter.control;

import io.limiter.internal.config.LimitText;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * What an operator has set until a time: for one key under one policy (an override), or for a policy, a rule or everything (a switch).
 * In Redis it is a line below its own hash, which the signed text names, and it ends there when it ends.
 *
 * @param target {@code policy:NAME}, {@code rule:NAME} or {@code all}
 * @param key of an override: an address, {@code user:alice}, or as the log of denials shows it, which it becomes; empty for a switch
 * @param to of an override limits, {@code unlimited} or {@code blocked}; of a switch {@code off}, {@code shadow} or {@code deny}
 * @param until when it ends, by the time of Redis
 * @param author who decided it
 * @param note why; may be empty
 */
public record Entry(String target, String key, String to, Instant until, String author, String note) {
    static final String ALL = "all";
    static final String UNLIMITED = "unlimited";
    static final String BLOCKED = "blocked";
    static final String OFF = "off";
    static final String SHADOW = "shadow";
    static final String DENY = "deny";

    /** More bytes are no line. */
    static final int MOST_BYTES = 4_000;

    private static final String POLICY = "policy:";
    private static final String RULE = "rule:";
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";
    private static final int FIELDS = 6;
    private static final int LONGEST_LINE = 200;
    private static final int LONGEST_KEY = 512;

    /**
     * Checks how the parts fit together.
     *
     * @throws IllegalArgumentException if they don't
     */
    public Entry {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        Texts.line("the limits", to, LONGEST_KEY);
        Texts.line("the key", key, LONGEST_KEY);
        key = key.isEmpty() ? "" : Words.key(key).canonical();
        Texts.require(
                key.isEmpty()
                        ? (to.equals(OFF) || to.equals(SHADOW)) && target.matches("(policy|rule):" + NAME)
                                || (to.equals(OFF) || to.equals(DENY)) && target.equals(ALL)
                        : target.matches(POLICY + NAME)
                                && !List.of(OFF, SHADOW, DENY).contains(to),
                "an override is limits, unlimited or blocked, for a key of policy:NAME; a switch is off or shadow for"
                        + " policy:NAME or rule:NAME, or off or deny for all of them, and has no key");
        if (!key.isEmpty()) {
            // A stand-in for a missing part is another client each time; it can't have what one of them was given.
            Texts.require(
                    !key.startsWith("@") && !key.contains(":@") && !key.equals("*"),
                    "a key is that of one caller, without @ and not *");
            if (!List.of(UNLIMITED, BLOCKED).contains(to)) {
                LimitText.parseAll(to);
            }
        }
    }

    /** What tells it from others: a later one with the same id replaces it. */
    String id() {
        return (target + " " + key).strip();
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

    /** Whether it is an override with other limits. */
    boolean isLimits() {
        return !isSwitch() && !to.equals(UNLIMITED) && !to.equals(BLOCKED);
    }

    long untilMicros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, until);
    }

    /** As it is in Redis. */
    String line() {
        return String.join("\t", target, key, to, until.toString(), author, note);
    }

    /** The name of its line. */
    String hash() {
        return Signer.hash(line());
    }

    /** Reads a line; throws {@link IllegalArgumentException} if it is none. */
    static Entry of(String line) {
        String[] fields = line.split("\t", -1);
        Texts.require(
                fields.length == FIELDS,
                "an override or switch has a form that this version does not know: " + Texts.plain(line));
        return new Entry(fields[0], fields[1], fields[2], Instant.parse(fields[3]), fields[4], fields[5]);
    }

    /** What is set, and until when. */
    String value() {
        return to + " until " + until;
    }

    /** For people, with who decided it and why. */
    String described() {
        return this + " by " + author + (note.isEmpty() ? "" : " (" + note + ")");
    }

    /** For people, with its end. */
    @Override
    public String toString() {
        return id() + " " + value();
    }
}
