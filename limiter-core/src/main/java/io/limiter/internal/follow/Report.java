package io.limiter.internal.follow;

import io.limiter.internal.control.Head;
import io.limiter.internal.control.Texts;

/**
 * What an instance reports to those who publish. Nobody obeys it. In Redis it is one line after the time.
 *
 * @param seconds when, by the time of Redis
 * @param has what is in force, and the last text that it was asked about
 * @param lookedMicros when the last text was published at which it has looked
 * @param verdict about the text that it was asked about: empty for yes, else why not
 * @param problem why the published text is not in force here; empty if it is
 */
public record Report(long seconds, Head has, long lookedMicros, String verdict, String problem) {
    /** An instance that has not reported for so long is gone. */
    public static final long GONE_SECONDS = 15;

    private static final String NUMBER = "[0-9]{1,16}";

    /** Any user of Redis that has the right can write a report, so what could move a cursor is taken out of it. */
    public Report {
        verdict = Texts.plain(verdict);
        problem = Texts.plain(problem);
    }

    /** Without the time. */
    String line() {
        return String.join("\t", has.toString(), Long.toString(lookedMicros), verdict, problem);
    }

    /** Reads a report; one of a version that is not understood has a problem. */
    public static Report of(String line) {
        String[] words = line.split("\t", -1);
        try {
            if (words.length == 5 && words[0].matches(NUMBER) && words[2].matches(NUMBER)) {
                return new Report(
                        Long.parseLong(words[0]), Head.of(words[1]), Long.parseLong(words[2]), words[3], words[4]);
            }
        } catch (IllegalArgumentException other) {
            // Below.
        }
        return new Report(0, Head.NONE, 0, "", "its report has another form");
    }
}
