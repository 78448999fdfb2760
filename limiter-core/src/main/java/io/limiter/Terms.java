package io.limiter;

/**
 * What a limit demands beyond its numbers, such as a calendar or the end of a sale. Each kind belongs to one algorithm, whose
 * script reads it as its ARGV[9] and whose state class reads it here. Immutable; two of them are equal when they say the
 * same.
 */
public interface Terms {
    /**
     * The options of the script.
     *
     * @param unixMicros the time of the call on the clock of this machine, which may differ from the server's
     */
    String options(long unixMicros);

    /** The period that the script gets at that time: the written one, unless windows differ in length. In microseconds. */
    default long periodMicros(long written, long unixMicros) {
        return written;
    }

    /** The words of configuration text that follow the algorithm. */
    @Override
    String toString();
}
