package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigText;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is published for a group: a text, and overrides and switches, all under one signature. Versions are counted, by no clock: a
 * publisher takes a number above all that it can see, and an instance takes none below the one that it has, whatever the time. Immutable.
 *
 * @param head what instances look at: its number, the hash of its {@linkplain Stored record}, and the signature of both. Equal heads have
 *     equal records, so each head says by itself that a publisher has made its version
 * @param version its number; 0 for nothing
 * @param text properties
 * @param entries the lines of overrides and switches, also of those that have ended since
 */
record Published(String head, long version, String text, List<String> entries) {
    /** Of a group for which nothing was published. */
    static final Published NONE = new Published("", 0, "", List.of());

    /** The largest text that is published or taken, in bytes; the lines of overrides and switches have as many. */
    static final int MOST_BYTES = 262_144;

    /** So many of them are left for switches, so that overrides never keep an operator from one. */
    static final int FOR_SWITCHES = 16_384;

    private static final Pattern HEAD = Pattern.compile("[0-9]{1,15} [0-9a-f]{64} [0-9a-f]{64}");
    private static final Pattern BODY = Pattern.compile("(?s)([0-9a-f]{64}) ([0-9]{1,16})\n(.*)");
    private static final String THE_TEXT = "the text";

    /** How an instance is connected is its own matter. */
    private static final String NEVER = "limiter\\.(redis|control)\\..*|limiter\\.backend|limiter\\.enabled";

    /**
     * A version as it is in Redis. The overrides and switches are a text by themselves, which ends there with the last of them.
     *
     * @param record the head; the hash of the other text, and when that ends, in microseconds; then the published text
     * @param entries a line for each
     */
    record Stored(String record, String entries) {
        /** More bytes are no record. */
        static final int MOST_BYTES = Published.MOST_BYTES + 300;

        /** Signs a version. */
        static Stored of(long version, String text, Collection<Entry> all, Signer signer) {
            String lines = all.stream().map(Entry::line).collect(Collectors.joining("\n"));
            long end = all.stream().mapToLong(Entry::untilMicros).max().orElse(0);
            String body = Signer.hash(lines) + " " + end + "\n" + text;
            return new Stored(signer.signed(version + " " + Signer.hash(body)) + "\n" + body, lines);
        }

        String head() {
            return record.lines().findFirst().orElse("");
        }

        /**
         * What follows the head.
         *
         * @throws IllegalArgumentException if it is none of that head, or the signature does not fit
         */
        private Matcher body(String head, Signer signer) {
            Published.version(head, signer);
            String body = record.substring(Math.min(record.length(), head.length() + 1));
            Signer.require(head().equals(head) && head.contains(" " + Signer.hash(body) + " "));
            Matcher parts = BODY.matcher(body);
            Texts.require(parts.matches(), "the published text has a form that this version does not know");
            checkText(parts.group(3));
            return parts;
        }

        /** The published text only, also where the other one has ended; throws as {@link #published}. */
        String text(long version, Signer signer) {
            Signer.require(number(head()) == version);
            return body(head(), signer).group(3);
        }

        /**
         * All of it.
         *
         * @param nowMicros the time of Redis, which is read only where overrides and switches are not there any more
         * @throws IllegalArgumentException if it is not that of this head, or a signature does not fit
         */
        Published published(String head, LongSupplier nowMicros, Signer signer) {
            Matcher body = body(head, signer);
            Signer.require(Signer.hash(entries).equals(body.group(1))
                    || entries.isEmpty() && Long.parseLong(body.group(2)) <= nowMicros.getAsLong());
            return new Published(
                    head,
                    Published.version(head, signer),
                    body.group(3),
                    entries.lines().toList());
        }
    }

    /**
     * Checks the size of a text, and its characters.
     *
     * @throws IllegalArgumentException if it is not taken
     */
    static void checkText(String text) {
        Texts.require(
                text.length() <= MOST_BYTES && text.getBytes(UTF_8).length <= MOST_BYTES,
                "the text has more than " + MOST_BYTES + " bytes; publish what differs only");
        Texts.require(
                text.chars().noneMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t' && c != '\r'),
                "the text has control characters; remove them");
    }

    /**
     * The version of a head.
     *
     * @throws IllegalArgumentException if it is no head, or its signature does not fit
     */
    static long version(String head, Signer signer) {
        Texts.require(
                HEAD.matcher(head).matches(),
                "what is published has a form that this version does not know (" + Texts.plain(head)
                        + "); update this instance, or publish again with its version");
        return number(signer.verified(head));
    }

    /** The number in a head, for people; 0 if it is none. */
    static long number(String head) {
        String number = head.replaceFirst(" .*", "");
        return number.matches("[0-9]{1,15}") ? Long.parseLong(number) : 0;
    }

    /** The name of its text in messages. */
    String source() {
        return "published version " + version;
    }

    /**
     * What a text changes of another one, in the words of the configuration: {@code limiter.plans.free.limits: 2/1m -> 20/1m}. A
     * key that one of them does not have is {@code (own)}: each instance has its own value.
     */
    static List<String> changes(String before, String text) {
        Map<String, String> now = values(LimiterConfig.builder(), THE_TEXT, before);
        Map<String, String> next = values(LimiterConfig.builder(), THE_TEXT, text);
        Set<String> keys = new LinkedHashSet<>(now.keySet());
        keys.addAll(next.keySet());
        return keys.stream()
                .filter(key -> !Objects.equals(now.get(key), next.get(key)))
                .map(key -> key + ": " + now.getOrDefault(key, "(own)") + " -> " + next.getOrDefault(key, "(own)"))
                .toList();
    }

    /**
     * Checks a text as far as that is possible without the configuration of an instance.
     *
     * @throws io.limiter.config.ConfigException with all mistakes
     */
    static void check(String text) {
        checkText(text);
        LimiterConfig.Builder all = LimiterConfig.builder();
        values(all, THE_TEXT, text);
        all.checkOver();
    }

    /**
     * A configuration with this text over it, key by key.
     *
     * @throws IllegalArgumentException with all mistakes
     */
    LimiterConfig over(LimiterConfig own) {
        if (text.isEmpty()) {
            return own;
        }
        LimiterConfig.Builder all = own.toBuilder();
        values(all, source(), text).forEach((key, value) -> {
            String mistake = mistake(key, value, own.namedClasses());
            if (mistake != null) {
                all.mistake(source(), 0, key, mistake);
            }
        });
        return all.build();
    }

    /** Why a property is not taken from a publisher; null if it is. */
    private static @Nullable String mistake(String key, String value, Set<String> classes) {
        if ((key + value).chars().anyMatch(Character::isISOControl)) {
            return "RL-503 a key or value has control characters; remove them";
        }
        if (key.matches(NEVER)) {
            return "RL-504 " + key + " can't be published; write it into the configuration of each instance";
        }
        return ConfigText.namedClass(key, value)
                .filter(type -> !classes.contains(type))
                .map(type -> "RL-504 " + key + " names the class " + type.strip()
                        + ", and a published text may name only classes that the instance's own configuration names;"
                        + " add it there")
                .orElse(null);
    }

    private static Map<String, String> values(LimiterConfig.Builder all, String source, String text) {
        try {
            return all.over(source, new StringReader(text));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
