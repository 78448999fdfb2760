package io.limiter.inprocess;

/**
 * What one policy may keep: states, and timestamps of its logs, in states of its own and in those that keys share. All
 * policies made at run time have one together.
 *
 * @param owner whose it is, for the log
 */
record MemoryShare(String owner, Capacity.Share entries, Capacity.Share stamps, Capacity.Share sharedStamps) {
    /** Guarantees a part of the memory, or does not any more. */
    void guarantee(boolean wanted) {
        entries.guarantee(wanted);
        stamps.guarantee(wanted);
        sharedStamps.guarantee(wanted);
    }

    /** Whether nobody needs it: its policy was retracted, and holds nothing any more. */
    boolean isUnused() {
        return entries.isUnused() && stamps.isUnused() && sharedStamps.isUnused();
    }
}
