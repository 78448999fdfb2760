package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.TestedBackend;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the tests of the contract rely on: backends share a client and no key; a port that is taken is reported. */
class KitTest {
    private static final Policy POLICY = Policy.of("kit", Limit.fixedWindow(1, Duration.ofHours(1)));

    static List<TestedBackend> backends() {
        return Backends.withSentinel();
    }

    @ParameterizedTest(name = "on {0}")
    @MethodSource("backends")
    void aBackendThatIsClosedLeavesTheOthersOpenAndTheirKeysAlone(TestedBackend tested) {
        try (Backend lasting = tested.open(new ManualTime());
                RateLimiter other = RateLimiters.on(lasting)) {
            for (int i = 0; i < 2; i++) {
                try (Backend backend = tested.open(new ManualTime());
                        RateLimiter limiter = RateLimiters.on(backend)) {
                    assertTrue(
                            limiter.tryAcquire(POLICY, PartitionKey.global(), 1).allowed());
                }
            }
            assertTrue(other.tryAcquire(POLICY, PartitionKey.global(), 1).allowed());
            assertFalse(other.tryAcquire(POLICY, PartitionKey.global(), 1).allowed());
        }
    }

    @Test
    void aPortThatIsTakenIsReported() throws Exception {
        int port = RedisServers.freePort();
        assertNotEquals(port, RedisServers.freePort());
        try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            Throwable failure =
                    assertThrows(UncheckedIOException.class, () -> RedisServers.start(taken.getLocalPort()));
            while (failure.getCause() != null) {
                failure = failure.getCause();
            }
            assertTrue(failure.getMessage().contains("Address already in use"), failure.getMessage());
        }
        assertDoesNotThrow(() -> RedisServers.stop(RedisServers.start(port)));
    }
}
