package io.limiter.control;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who made a version, when and why. It is signed by itself, because it ends in Redis after 30 days, and the version does not.
 *
 * @param time by Redis, in ISO 8601
 * @param author who made it
 * @param what has changed, in one line
 * @param note why; may be empty
 */
record Change(String time, String author, String what, String note) {
    /** How long it is kept, and a text after another one was published. */
    static final long KEPT_MILLIS = 30 * 86_400_000L;

    /** More bytes are none. */
    static final int MOST_BYTES = 8_000;

    private static final int LONGEST_LINE = 200;
    private static final Pattern TAB = Pattern.compile("\t");
    private static final String KIND = "change";

    /** Checks what a person has written. */
    Change {
        Texts.line("the author", author, LONGEST_LINE);
        Texts.line("the note", note, LONGEST_LINE);
    }

    /** As it is in Redis. */
    String record(long version, Signer signer) {
        String line = String.join("\t", time, author, what, note);
        return signer.sign(KIND, version + "\t" + line) + "\t" + line;
    }

    /** Reads one; null if it is not there any more, or not signed. */
    static @Nullable Change of(long version, @Nullable String record, Signer signer) {
        String[] words = TAB.split(record == null ? "" : record, -1);
        if (record == null || words.length != 5) {
            return null;
        }
        try {
            signer.check(KIND, version + record.substring(words[0].length()), words[0]);
            return new Change(words[1], words[2], Texts.plain(words[3]), words[4]);
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }

    /** The one of a version. */
    static @Nullable Change of(ControlStore store, ControlKeys keys, Signer signer, long version) {
        return of(version, store.get(keys.change(version), MOST_BYTES), signer);
    }

    /** For people: who, and why. */
    String described() {
        return " by " + author + (note.isEmpty() ? "" : " (" + note + ")");
    }
}
