package io.limiter.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.limiter.BackendException;
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

    /** What the signature of a published text is about. */
    public static final String TEXT = "text";

    /** That of a text about which instances are only asked, so that nobody can put it into force. */
    public static final String CANDIDATE = "candidate";

    /** Checks the lines and the text. */
    public Published {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
        if (text.chars().anyMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t' && c != '\r')) {
            throw new IllegalArgumentException("RL-503 the text has control characters; remove them");
        }
        checkSize(text.length() > ControlKeys.MOST_BYTES ? text.length() : text.getBytes(UTF_8).length, 0);
    }

    /** Checks the number of bytes of a text, or of its record, which has so many more. */
    public static void checkSize(long bytes, int more) {
        if (bytes > ControlKeys.MOST_BYTES + more) {
            throw new IllegalArgumentException(String.format(
                    Locale.ROOT,
                    "RL-503 the text has %d bytes, and at most %d are taken; publish what differs only",
                    bytes,
                    ControlKeys.MOST_BYTES));
        }
    }

    /** The same with a signature. */
    public Published signed(Signer signer, String kind) {
        return new Published(version, micros, author, note, signer.sign(kind, fields()), text);
    }

    /** Checks the signature, as {@link Signer#check} does. */
    public void check(Signer signer, boolean isRequired, String kind) {
        signer.check(isRequired, signature, kind, fields());
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
     * Reads the record that was announced with that time.
     *
     * @throws BackendException if it is not there, as on a replica that is behind
     * @throws IllegalArgumentException if there is another one
     */
    public static Published read(ControlStore store, String key, long micros) {
        checkSize(store.size(key), ControlKeys.RECORD_BYTES);
        String record = store.get(key);
        if (record == null) {
            throw new BackendException("RL-501 the text that was announced is not there (yet)");
        }
        Published text = of(record);
        if (text.micros() != micros) {
            throw new IllegalArgumentException("RL-502 the text is another one than the one that was announced");
        }
        return text;
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
