package io.limiter.control;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The overrides and switches in force, and the time by which they end. One thread sets both; decisions read them. */
final class InForce {
    private final TimeSource time;
    private volatile Entries entries = Entries.NONE;
    private volatile long offsetMicros;
    private volatile List<String> findings = List.of();

    /** @param time a monotonic clock */
    InForce(TimeSource time) {
        this.time = time;
        this.offsetMicros = time.unixMicros() - time.nowMicros();
    }

    Entries entries() {
        return entries;
    }

    void set(Entries next) {
        entries = next;
    }

    /** The one that decides calls of a key to a policy; null for none. */
    @Nullable
    Entry find(String policy, PartitionKey key) {
        return entries.of(policy).find(key, this::nowMicros);
    }

    /** What operators should know, each with its code. */
    List<String> findings() {
        return findings;
    }

    void setFindings(List<String> found) {
        findings = List.copyOf(found);
    }

    /** Notes the time of Redis; until then, and while Redis is unreachable, the clock of this machine goes on. */
    void setTime(long redisMicros) {
        offsetMicros = redisMicros - time.nowMicros();
    }

    /** The time of Redis, as far as it is known: it may step, so it measures no pauses. */
    long nowMicros() {
        return time.nowMicros() + offsetMicros;
    }

    /** A time that never steps. */
    long steadyMicros() {
        return time.nowMicros();
    }
}
