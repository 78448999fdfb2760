package io.limiter.internal.control;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The directives in force, and the time by which they end. One thread sets both; decisions read them. */
public final class InForce {
    private static final Duration POLL = Duration.ofMillis(300);

    private final TimeSource time;
    private final Duration poll;
    private volatile Directives directives = Directives.NONE;
    private volatile long offsetMicros;
    private volatile List<String> findings = List.of();

    /** @param time a monotonic clock */
    public InForce(TimeSource time) {
        this(time, POLL);
    }

    /** One for which a test has another pause between two looks at what is published. */
    public InForce(TimeSource time, Duration poll) {
        this.time = time;
        this.poll = poll;
        this.offsetMicros = time.unixMicros() - time.nowMicros();
    }

    /** How long who follows waits before it looks again. */
    public Duration poll() {
        return poll;
    }

    /** The directives now. */
    public Directives directives() {
        return directives;
    }

    /** Replaces all of them. */
    public void set(Directives next) {
        directives = next;
    }

    /** The directive that decides calls of a key to a policy; null for none. */
    @Nullable
    Directive find(String policy, PartitionKey key) {
        return directives.of(policy).find(key, this::nowMicros);
    }

    /** The same for people; empty for none. */
    public String operator(String policy, PartitionKey key) {
        Directive one = find(policy, key);
        return one == null ? "" : one.described();
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
