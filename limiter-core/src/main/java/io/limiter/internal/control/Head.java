package io.limiter.internal.control;

import org.jspecify.annotations.Nullable;

/**
 * What is published, in few bytes, so that each instance can look at it often. Times are those of Redis, and only grow, so they
 * order what is published also after Redis has lost its data; versions are for people.
 *
 * @param version of the text; 0 for none
 * @param textMicros when the text was published; 0 for none
 * @param revision of the latest directive; 0 for none
 * @param askedMicros of the text about which instances are asked; 0 for none
 */
public record Head(long version, long textMicros, long revision, long askedMicros) {
    /** More bytes are none. */
    public static final int MOST_BYTES = 100;

    /** Of a group for which nothing was published. */
    public static final Head NONE = new Head(0, 0, 0, 0);

    static final String FORM = "1( [0-9]{1,16}){4}";

    /**
     * Reads a head.
     *
     * @throws IllegalArgumentException if it is none that this version understands
     */
    public static Head of(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return NONE;
        }
        if (!text.matches(FORM)) {
            throw new IllegalArgumentException("RL-503 what is published has a form that this version does not know ("
                    + Texts.plain(text) + "); update this instance, or publish again with its version");
        }
        String[] words = text.split(" ");
        return new Head(
                Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]));
    }

    /** After a change. */
    public Head after(Directive next) {
        return switch (next.kind()) {
            case TEXT -> new Head(next.version(), next.micros(), revision, askedMicros);
            case CANDIDATE -> new Head(version, textMicros, revision, next.micros());
            default -> new Head(version, textMicros, next.micros(), askedMicros);
        };
    }

    /** The latest of its times. */
    public long latestMicros() {
        return Math.max(textMicros, Math.max(revision, askedMicros));
    }

    @Override
    public String toString() {
        return "1 " + version + " " + textMicros + " " + revision + " " + askedMicros;
    }
}
