package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.ConfigText;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is published for a group: one text, which is signed as a whole. It names the overrides and switches by the hashes of their lines,
 * which end in Redis by themselves. Versions are counted, by no clock: a publisher takes a number above all that it can see, and an
 * instance takes none below the one that it has, whatever the time. Immutable.
 *
 * @param version its number; 0 for nothing
 * @param text properties
 * @param entries the ends of overrides and switches, by the hashes of their lines
 */
record Published(long version, String text, Map<String, Long> entries) {
    /** Of a group for which nothing was published. */
    static final Published NONE = new Published(0, "", Map.of());

    /** The largest text that is published or taken, in bytes. */
    static final int MOST_BYTES = 262_144;

    /** How many overrides and switches may be in force. */
    static final int MOST_ENTRIES = 2_000;

    /** So many of them are left for switches, so that overrides never keep an operator from one. */
    static final int FOR_SWITCHES = 100;

    /** More bytes are no record. */
    static final int MOST_RECORD_BYTES = MOST_BYTES + MOST_ENTRIES * 82 + 200;

    /** More bytes are no {@linkplain #head head}. */
    static final int MOST_HEAD_BYTES = 150;

    private static final int HASH = 64;
    private static final Pattern HEAD = Pattern.compile("(([0-9]{1,15}) [0-9a-f]{64}) ([0-9a-f]{64})");
    private static final Pattern ENTRY = Pattern.compile("[0-9a-f]{64} [0-9]{1,16}");
    private static final String KIND = "text";
    private static final String THE_TEXT = "the text";

    /** How an instance is connected is its own matter. */
    private static final String NEVER = "limiter\\.(redis|control)\\..*|limiter\\.backend|limiter\\.enabled";

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

    /** As it is in Redis: the head, then the ends of overrides and switches, an empty line, and the text. */
    String record(Signer signer) {
        String body = entries.entrySet().stream()
                        .map(one -> one.getKey() + " " + one.getValue() + "\n")
                        .collect(Collectors.joining())
                + "\n" + text;
        String named = version + " " + Signer.hash(body);
        return named + " " + signer.sign(KIND, named) + "\n" + body;
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is none, its signature does not fit, or it is none of this head
     */
    static Published of(String head, String record, Signer signer) {
        long version = version(head, signer);
        String body = record.substring(Math.min(record.length(), head.length() + 1));
        if (!record.startsWith(head) || !head.split(" ")[1].equals(Signer.hash(body))) {
            throw Signer.misfit();
        }
        int end = body.startsWith("\n") ? -1 : body.indexOf("\n\n");
        Map<String, Long> entries = new LinkedHashMap<>();
        body.substring(0, Math.max(0, end)).lines().forEach(line -> {
            Texts.require(ENTRY.matcher(line).matches(), "no override or switch: " + Texts.plain(line));
            entries.put(line.substring(0, HASH), Long.parseLong(line.substring(HASH + 1)));
        });
        String text = body.substring(end < 0 ? 1 : end + 2);
        checkText(text);
        return new Published(version, text, entries);
    }

    /**
     * What instances look at: the number of a record, its hash, and the signature of both. Equal heads have equal records, so each
     * head says by itself that a publisher has made its version.
     */
    static String head(String record) {
        return record.lines().findFirst().orElse("");
    }

    /**
     * The version of a head.
     *
     * @throws IllegalArgumentException if it is no head, or its signature does not fit
     */
    static long version(String head, Signer signer) {
        Matcher parts = HEAD.matcher(head);
        Texts.require(
                parts.matches(),
                "what is published has a form that this version does not know (" + Texts.plain(head)
                        + "); update this instance, or publish again with its version");
        signer.check(KIND, parts.group(1), parts.group(3));
        return Long.parseLong(parts.group(2));
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
