package io.limiter.inprocess;

/**
 * What one policy may keep: states, and timestamps of its logs, in states of its own and in those that keys share. All
 * policies made at run time have one together. Guarded by the lock of the table.
 */
final class MemoryShare {
    final String owner;
    final Capacity.Share entries;
    final Capacity.Share stamps;
    final Capacity.Share sharedStamps;
    private boolean announced;

    MemoryShare(String owner, Capacity.Share entries, Capacity.Share stamps, Capacity.Share sharedStamps) {
        this.owner = owner;
        this.entries = entries;
        this.stamps = stamps;
        this.sharedStamps = sharedStamps;
    }

    /** Guarantees a part of the memory, or does not any more. */
    void announce(boolean isAnnounced) {
        announced = isAnnounced;
        entries.guarantee(isAnnounced);
        stamps.guarantee(isAnnounced);
        sharedStamps.guarantee(isAnnounced);
    }

    /** Whether nobody needs it: its policy was retracted, and holds nothing any more. */
    boolean isUnused() {
        return !announced && entries.isUnused() && stamps.isUnused() && sharedStamps.isUnused();
    }
}
