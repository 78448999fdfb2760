package io.limiter.control;

import io.limiter.PartitionKey;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.internal.config.LimitText;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What an operator has set until a time: for one key under one policy (an override), or for a policy or everything (a switch).
 * In Redis it is a line of what is published, which leaves it when the last of these lines has ended, or with the next change.
 *
 * @param target {@code policy:NAME} or {@code all}
 * @param key of an override: an address, {@code user:alice}, or as the log of denials shows it, which it becomes; empty for a switch
 * @param to of an override limits, {@code unlimited} or {@code blocked}; of a switch {@code off}, or {@code deny} for {@code all}
 * @param until when it ends, by the time of Redis
 * @param author who decided it
 * @param note why; may be empty
 */
public record Entry(String target, String key, String to, Instant until, String author, String note) {
    static final String ALL = "all";
    static final String UNLIMITED = "unlimited";
    static final String BLOCKED = "blocked";
    static final String OFF = "off";
    static final String DENY = "deny";

    private static final String POLICY = "policy:";
    private static final String NAME = "[A-Za-z0-9._-]{1,64}";
    private static final String USER = "user:";
    private static final String IPV6_NETWORK = "/64";
    /** A part that is a secret, in clear, also as a rule writes its kind. */
    private static final Pattern SECRET =
            Pattern.compile("(?i)(^|:)(session|bearer|header|cookie|query)(\\.[^=:]*)?(:|=(?!~))");

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
        key = key.isEmpty() ? "" : key(key).canonical();
        Texts.require(
                key.isEmpty()
                        ? to.equals(OFF) && target.matches(POLICY + NAME + "|" + ALL)
                                || to.equals(DENY) && target.equals(ALL)
                        : target.matches(POLICY + NAME) && !List.of(OFF, DENY).contains(to),
                "an override is limits, unlimited or blocked, for a key of policy:NAME; a switch is off for policy:NAME, or"
                        + " off or deny for all, and has no key");
        // A stand-in for a missing part is another client each time; it can't have what one of them was given.
        Texts.require(
                !key.startsWith("@") && !key.contains(":@") && !key.equals("*"),
                "a key is that of one caller, without @ and not *");
        if (!key.isEmpty() && !List.of(UNLIMITED, BLOCKED).contains(to)) {
            LimitText.parseAll(to);
        }
    }

    /** What tells it from others: a later one with the same id replaces it. */
    String id() {
        return (target + " " + key).strip();
    }

    /** The policy; empty for all of them. */
    String policy() {
        return target.startsWith(POLICY) ? target.substring(POLICY.length()) : "";
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

    /**
     * The key of a caller as an operator writes it: an address ({@code 192.0.2.1}; of IPv6 its network of 64 bits, or one that is
     * written with another length), {@code user:alice}, or a key as in the log ({@code header.x-api-key=~8d1a...}).
     *
     * @throws IllegalArgumentException if it is none; also for a secret in clear, which is stored as a hash
     */
    static PartitionKey key(String text) {
        IpAddress address = IpAddress.parse(text.replaceFirst("/.*", ""));
        if (address != null) {
            // As a client's address is written in keys.
            IpAddress plain = address.unmapped().untranslated();
            if (plain.isIpv4()) {
                Texts.require(
                        text.equals(text.replaceFirst("/.*", "/" + address.bits())),
                        "a key is one IPv4 address; for a network publish limiter.deny.addresses");
                return PartitionKey.of(plain.toString());
            }
            IpNetwork its = IpNetwork.parse(text.indexOf('/') < 0 ? text + IPV6_NETWORK : text)
                    .withoutHostBits();
            boolean isOne = its.prefixBits() == its.address().bits();
            return PartitionKey.of(isOne ? its.address().toString() : its.toString());
        }
        PartitionKey key = text.startsWith(USER)
                ? PartitionKey.builder()
                        .add("user", text.substring(USER.length()))
                        .build()
                : PartitionKey.parse(text);
        Texts.require(
                !SECRET.matcher(key.canonical()).find(),
                "a session, token, header, cookie or parameter is stored as a hash; write"
                        + " the key as the log of denials shows it, such as header.x-api-key=~ and 32 digits");
        return key;
    }
}
