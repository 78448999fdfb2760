package io.limiter.internal.follow;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an instance reports to those who publish. Nobody obeys it. In Redis it is one line after the time.
 *
 * @param seconds when, by the time of Redis
 * @param version of the text in force; 0 for none
 * @param textMicros when that was published
 * @param revision of the directives in force
 * @param lookedMicros when the last text was published at which it has looked
 * @param askedMicros the last text that it was asked about; 0 for none
 * @param verdict about that text: empty for yes, else why not
 * @param problem why the published text is not in force here; empty if it is
 */
public record Report(
        long seconds,
        long version,
        long textMicros,
        long revision,
        long lookedMicros,
        long askedMicros,
        String verdict,
        String problem) {
    /** An instance that has not reported for so long is gone. */
    public static final long GONE_SECONDS = 10;

    private static final int LONGEST = 1_000;
    private static final Pattern ODD = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]+");
    private static final String NUMBER = "[0-9]{1,16}";

    /** Shortens the texts, and takes what could move a cursor out of them: any user of Redis that has the right can write a report. */
    public Report {
        verdict = plain(verdict);
        problem = plain(problem);
    }

    /** One line of limited length, without what could move a cursor. */
    public static String plain(@Nullable String text) {
        String line = ODD.matcher(String.valueOf(text)).replaceAll(" ");
        return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
    }

    /** Without the time. */
    String line() {
        return String.join(
                "\t",
                Long.toString(version),
                Long.toString(textMicros),
                Long.toString(revision),
                Long.toString(lookedMicros),
                Long.toString(askedMicros),
                verdict,
                problem);
    }

    /** Reads a report; one of a version that is not understood has a problem. */
    public static Report of(String line) {
        String[] words = line.split("\t", -1);
        boolean isKnown = words.length == 8;
        for (int i = 0; i < 6 && isKnown; i++) {
            isKnown = words[i].matches(NUMBER);
        }
        return isKnown
                ? new Report(
                        Long.parseLong(words[0]),
                        Long.parseLong(words[1]),
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4]),
                        Long.parseLong(words[5]),
                        words[6],
                        words[7])
                : new Report(0, 0, 0, 0, 0, 0, "", "its report has another form");
    }
}
