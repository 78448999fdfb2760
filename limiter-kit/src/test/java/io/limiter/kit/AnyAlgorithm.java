package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Calls that mean the same to every algorithm, whatever it counts. */
public final class AnyAlgorithm {
    private static final AtomicLong MEMBERS = new AtomicLong();
    /** Two JVMs have different members. */
    private static final long JVM = ProcessHandle.current().pid();

    private AnyAlgorithm() {}

    /** This number of permits; if members are counted, one permit for a new member. */
    public static Charge charge(Policy policy, PartitionKey key, long permits) {
        return policy.takesMembers()
                ? new Charge(
                        policy,
                        key,
                        Math.min(permits, 1),
                        null,
                        PartitionKey.of("member " + JVM + " " + MEMBERS.incrementAndGet()))
                : new Charge(policy, key, permits);
    }

    /** A limit of an algorithm, which can grant all of its permits at once. */
    public static Limit limit(Algorithm algorithm, long permits, long periodMicros) {
        return Limit.of(algorithm, permits, micros(periodMicros));
    }

    /** A stock that is open as long as a clock can go. */
    static Limit openStock(long permits, long each, Duration hold) {
        Instant latest = Instant.EPOCH.plus((1L << 52) - Limit.KEPT_MICROS, ChronoUnit.MICROS);
        return Limit.allotment(permits, each, hold, null, latest);
    }

    static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Those of which one limit makes a policy, and whose permits need no end. */
    public static List<Algorithm> limits() {
        return Stream.of(Algorithm.values())
                .filter(one -> one.isQuota() && !one.isInFlight())
                .toList();
    }

    /** Those that count permits, not members. */
    public static List<Algorithm> plain() {
        return limits().stream().filter(one -> !one.takesMembers()).toList();
    }
}
