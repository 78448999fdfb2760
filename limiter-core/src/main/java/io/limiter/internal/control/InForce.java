package io.limiter.internal.control;

import io.limiter.TimeSource;
import java.util.List;

/** The directives in force, and the time by which they end. One thread sets both; decisions read them. */
public final class InForce {
    private final TimeSource time;
    private volatile Directives directives = Directives.NONE;
    private volatile long offsetMicros;
    private volatile List<String> findings = List.of();

    /** @param time a monotonic clock */
    public InForce(TimeSource time) {
        this.time = time;
        this.offsetMicros = time.unixMicros() - time.nowMicros();
    }

    /** The directives now. */
    public Directives directives() {
        return directives;
    }

    /** Replaces all of them. */
    public void set(Directives next) {
        directives = next;
    }

    /** What operators should know, each with its code. */
    public List<String> findings() {
        return findings;
    }

    /** Replaces them. */
    public void setFindings(List<String> found) {
        findings = List.copyOf(found);
    }

    /** Notes the time of Redis; until then, and while Redis is unreachable, the clock of this machine goes on. */
    public void setTime(long redisMicros) {
        offsetMicros = redisMicros - time.nowMicros();
    }

    /** The time of Redis, as far as it is known. */
    public long nowMicros() {
        return time.nowMicros() + offsetMicros;
    }
}
