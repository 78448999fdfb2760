package io.limiter.control;

/**
 * What an instance reports to those who publish. No instance obeys it. In Redis it is one line after the time.
 *
 * @param seconds when, by the time of Redis
 * @param inForce the head of the last version of which everything is in force; empty for none
 * @param latest the head of the latest version that it has read, in force or not; empty for none
 * @param seen the head that it has seen last, also that of a version that it has refused
 * @param problem why not everything is in force, or what has no effect; empty for nothing
 */
record Report(long seconds, String inForce, String latest, String seen, String problem) {
    /** An instance that has not reported for so long is gone. */
    static final long GONE_SECONDS = 15;

    /** Any user of Redis that has the right can write a report, so what could move a cursor is taken out of it. */
    Report {
        problem = Texts.plain(problem);
    }

    /** Without the time. */
    String line() {
        return String.join("\t", inForce, latest, seen, problem);
    }

    /** Reads a report; one of a form that is not known has a problem. */
    static Report of(String line) {
        String[] words = line.split("\t", -1);
        return words.length == 5 && words[0].matches("[0-9]{1,16}")
                ? new Report(Long.parseLong(words[0]), words[1], words[2], words[3], words[4])
                : new Report(0, "", "", "", "its report has another form");
    }
}
