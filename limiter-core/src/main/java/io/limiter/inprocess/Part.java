package io.limiter.inprocess;

/**
 * What one policy may keep: states, and timestamps of its logs, in states of its own and in those that keys share. All
 * policies made at run time have one part together.
 */
final class Part {
    final String name;
    final Capacity.Share entries;
    final Capacity.Share stamps;
    final Capacity.Share sharedStamps;

    Part(String name, Capacity entries, Capacity stamps, Capacity sharedStamps) {
        this.name = name;
        this.entries = entries.newShare();
        this.stamps = stamps.newShare();
        this.sharedStamps = sharedStamps.newShare();
    }
}
