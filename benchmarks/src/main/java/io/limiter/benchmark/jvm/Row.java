package io.limiter.benchmark.jvm;

/**
 * What a case cost.
 *
 * @param wallNanos time of a thread for one operation
 * @param cpuNanos CPU time of the process for one operation
 * @param bytes allocated by one operation
 */
record Row(Name name, double wallNanos, double cpuNanos, double bytes) {
    /** Which case. */
    record Name(String contender, String workload, String callers) {
        /** The same case of another contender. */
        Name of(String other) {
            return new Name(other, workload, callers);
        }
    }
}
