package io.limiter.inprocess;

/**
 * The memory of one policy: states, and timestamps of its logs, in states of its own and in those that keys share. All
 * policies made at run time share one.
 *
 * @param owner the owner, for the log
 */
record MemoryShare(String owner, Capacity.Share entries, Capacity.Share stamps, Capacity.Share sharedStamps) {
    /** Sets whether a part of the memory is guaranteed. */
    void guarantee(boolean wanted) {
        entries.guarantee(wanted);
        stamps.guarantee(wanted);
        sharedStamps.guarantee(wanted);
    }

    /** Whether it is unused: its policy was retracted, and holds nothing any more. */
    boolean isUnused() {
        return entries.isUnused() && stamps.isUnused() && sharedStamps.isUnused();
    }
}
