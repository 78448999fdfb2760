package io.limiter.internal.control;

import java.util.Locale;

/**
 * A published text. In Redis it is six lines, an empty one, and the text.
 *
 * @param version for people, from 1
 * @param micros when, by the time of Redis; later texts have later times
 * @param author who published it
 * @param note why; may be empty
 * @param signature empty for none
 * @param text properties, as in a file
 */
public record Published(long version, long micros, String author, String note, String signature, String text) {
    private static final String FIRST = "limiter-text 1";
    private static final int LONGEST_LINE = 200;
    private static final String KIND = "text";

    /** Checks the lines and the text. */
    public Published {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        if (text.chars().anyMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t' && c != '\r')) {
            throw new IllegalArgumentException("RL-503 the text has control characters; remove them");
        }
        if (text.length() > ControlKeys.MOST_BYTES) {
            throw tooLong(text.length());
        }
    }

    /** The mistake of a text with so many bytes. */
    public static IllegalArgumentException tooLong(long bytes) {
        return new IllegalArgumentException(String.format(
                Locale.ROOT,
                "RL-503 the text has %d bytes, and at most %d are taken; publish what differs only",
                bytes,
                ControlKeys.MOST_BYTES));
    }

    /** The same with a signature. */
    public Published signed(Signer signer) {
        return new Published(version, micros, author, note, signer.sign(KIND, fields()), text);
    }

    /** Checks the signature, as {@link Signer#check} does. */
    public void check(Signer signer, boolean isRequired) {
        signer.check(isRequired, signature, KIND, fields());
    }

    private String[] fields() {
        return new String[] {Long.toString(version), Long.toString(micros), author, note, text};
    }

    /** As it is in Redis, and in the folder of an instance. */
    public String record() {
        return String.join(
                "\n", FIRST, Long.toString(version), Long.toString(micros), author, note, signature, "", text);
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Published of(String record) {
        String[] lines = record.split("\n", 8);
        if (lines.length != 8
                || !lines[0].equals(FIRST)
                || !lines[1].matches("[0-9]{1,15}")
                || !lines[2].matches("[0-9]{1,16}")
                || !lines[5].matches("[0-9a-f]{0,64}")
                || !lines[6].isEmpty()) {
            throw new IllegalArgumentException("RL-503 the published text has a form that this version does not know;"
                    + " update this instance, or publish again with its version");
        }
        return new Published(
                Long.parseLong(lines[1]), Long.parseLong(lines[2]), lines[3], lines[4], lines[5], lines[7]);
    }

    /** Its name in messages. */
    public String source() {
        return "published version " + version;
    }
}
