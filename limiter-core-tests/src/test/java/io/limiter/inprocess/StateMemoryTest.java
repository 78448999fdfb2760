package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Looks;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What states take of the heap: those of a million clients, and request ids and members of any length. */
@Isolated("it measures the heap of the JVM")
class StateMemoryTest extends BoundedBackend {
    private static final int CLIENTS = 1_000_000;
    private static final int CALLS = 500;
    /** So many that what else happens in this JVM is nothing to it. */
    private static final int PURCHASES = 2_000;

    private static final String LONG = "x".repeat(20_000);
    private static final Instant CLOSES = Instant.parse("2099-01-01T00:00:00Z");

    static Stream<Limit> limits() {
        return Stream.of(
                Limit.allotment(10_000, 10_000, Duration.ZERO, null, CLOSES),
                Limit.allotment(10_000, 10_000, Duration.ofDays(1), null, CLOSES),
                Limit.slidingZset(10_000, Duration.ofDays(1)),
                Limit.distinct(10_000, Duration.ofDays(1)));
    }

    private static long usedBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static Charge charge(Policy policy, String id, int i) {
        boolean hasMember = policy.takesMembers();
        boolean hasId = policy.limits().get(0).algorithm().takesRequestIds();
        return new Charge(
                policy,
                PartitionKey.global(),
                1,
                hasId ? id + i : null,
                hasMember ? PartitionKey.of(List.of("a".repeat(60), "b".repeat(60), "m" + i)) : null);
    }

    /** Kept as they are, the ids of these calls would take 10 MB. */
    @ParameterizedTest
    @MethodSource("limits")
    void aLongIdIsKeptAsItsHash(Limit limit) {
        Policy policy = Policy.of("p", limit);
        start(InProcessBackend.DEFAULT_MAX_ENTRIES, InProcessBackend.DEFAULT_MAX_STAMPS);
        takes(charge(policy, LONG, CALLS));
        long before = usedBytes();
        for (int i = 0; i < CALLS; i++) {
            assertTrue(takes(charge(policy, LONG, i)));
        }
        long taken = usedBytes() - before;
        assertTrue(taken < 2_750_000, "they take " + taken + " bytes");
        long left = Looks.left(limiter, policy, PartitionKey.global());
        assertEquals(10_000 - CALLS - 1, left);
        takes(charge(policy, LONG, 7));
        assertEquals(left, Looks.left(limiter, policy, PartitionKey.global()), "the same id is the same call");
    }

    /** The number that the backend returns is about what purchases take. */
    @Test
    void purchasesAreCountedAsWhatTheyTake() {
        for (Duration hold : List.of(Duration.ZERO, Duration.ofDays(1))) {
            Policy policy = Policy.of("p", Limit.allotment(10_000, 1, hold, null, CLOSES));
            start(InProcessBackend.DEFAULT_MAX_ENTRIES, InProcessBackend.DEFAULT_MAX_STAMPS);
            takes(charge(policy, "id ", PURCHASES));
            long before = usedBytes();
            long counted = backend.stamps();
            for (int i = 0; i < PURCHASES; i++) {
                takes(charge(policy, "id ", i));
            }
            long bytes = (usedBytes() - before) / PURCHASES;
            long said = (backend.stamps() - counted) * Long.BYTES / PURCHASES;
            assertTrue(bytes < said + 100, "a purchase takes " + bytes + " bytes, counted as " + said);
            assertTrue(Looks.left(limiter, policy, PartitionKey.global()) < 10_000);
        }
    }

    /** Prints what it measured. What counts members has larger states. */
    @Tag("soak")
    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#plain")
    void bytesForEachClient(Algorithm algorithm) {
        long before = usedBytes();
        start(CLIENTS, 10L * CLIENTS);
        Policy policy = Policy.of("p", AnyAlgorithm.limit(algorithm, 10, 3_600_000_000L));
        for (int i = 0; i < CLIENTS; i++) {
            takes(policy, PartitionKey.of("10." + (i >> 16 & 255) + "." + (i >> 8 & 255) + "." + (i & 255)), 1);
        }
        long bytes = (usedBytes() - before) / CLIENTS;
        System.out.printf("%-12s %d bytes for each of %d clients%n", algorithm.text(), bytes, backend.entries());
        assertEquals(CLIENTS, backend.entries());
        assertEquals(0, backend.overflowed());
        assertTrue(bytes < 400, bytes + " bytes a client");
    }
}
