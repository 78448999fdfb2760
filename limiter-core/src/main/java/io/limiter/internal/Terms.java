package io.limiter.internal;

/**
 * What a limit needs beyond its numbers, such as a calendar or the end of a sale. Each kind is used by one algorithm,
 * which reads it as ARGV[9] in its script and here in its state class. Immutable; compared by value.
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

    /** The configuration text that follows the algorithm. */
    @Override
    String toString();
}
