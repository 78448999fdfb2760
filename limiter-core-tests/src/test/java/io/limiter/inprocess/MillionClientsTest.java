package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A million distinct clients in this JVM: what they cost. Prints what it measured. */
@Tag("soak")
class MillionClientsTest {
    private static final int CLIENTS = 1_000_000;

    private final ManualTime time = new ManualTime();

    /** What counts members has larger states. */
    static Stream<Algorithm> ofClients() {
        return AnyAlgorithm.plain().stream();
    }

    @ParameterizedTest
    @MethodSource("ofClients")
    void bytesForEachClient(Algorithm algorithm) {
        long before = used();
        InProcessBackend backend = InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(CLIENTS)
                .maxStamps(10L * CLIENTS)
                .build();
        RateLimiter limiter = RateLimiters.on(backend);
        Policy policy = Policy.of("p", AnyAlgorithm.limit(algorithm, 10, 3_600_000_000L));
        for (int i = 0; i < CLIENTS; i++) {
            limiter.tryAcquire(policy, client(i), 1);
        }
        long bytes = (used() - before) / CLIENTS;
        System.out.printf("%-12s %d bytes for each of %d clients%n", algorithm.text(), bytes, backend.entries());
        assertEquals(CLIENTS, backend.entries());
        assertEquals(0, backend.overflowed());
        assertTrue(bytes < 400, bytes + " bytes a client");
    }

    private static PartitionKey client(int i) {
        return PartitionKey.of("10." + (i >> 16 & 255) + "." + (i >> 8 & 255) + "." + (i & 255));
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
