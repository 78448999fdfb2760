package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;

/** While no Redis has been reached yet: one client of Redisson, a quiet log, and a connection soon after somebody is there. */
@Isolated("counts the clients that Redisson makes in the JVM")
class ConnectionTest {
    private static final int ATTEMPTS = 2;

    private final int port = RedisServers.freePort();
    private final LogLines attempts = new LogLines("io.limiter.redis.Connection", Level.DEBUG);
    /** Redisson writes its version whenever a client is made. */
    private final LogLines clients = new LogLines("org.redisson.Version", Level.INFO);

    @AfterEach
    void stopListening() {
        attempts.close();
        clients.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://127.0.0.1:", "redis://user:p%40ss@localhost:", "rediss://127.0.0.1:"})
    void nobodyListens(String address) {
        try (LogLines redisson = new LogLines("org.redisson", Level.WARN);
                RedisBackend backend =
                        RedisBackend.builder().address(address + port).build()) {
            awaitAttempts(ATTEMPTS);
            int threads = redissonThreads();
            awaitAttempts(2 * ATTEMPTS);
            assertEquals(1, clientsMade(), clients.toString());
            // A pool may start its next thread at any time.
            assertTrue(redissonThreads() < threads + ATTEMPTS, "no thread for each attempt");
            List<String> told = attempts.of(Level.WARN, "RL-201");
            String refused = "RL-201 ConnectException: .*(127.0.0.1|localhost).*:" + port + ";.*";
            // The first use of everything may take longer than a connection may, which is another reason, logged once
            // too.
            assertEquals(1, told.stream().filter(line -> line.matches(refused)).count(), attempts.toString());
            assertTrue(told.size() <= 2, attempts.toString());
            assertEquals("", redisson.toString(), "nor has Redisson more to say");
            assertTrue(backend.health().findings().get(0).startsWith("RL-201"));
        }
    }

    /** Redisson and the limiter have different words for one cause; it is logged once. */
    @Test
    void oneCauseIsLoggedOnce() {
        String ours = RedisFailure.of(new ConnectException("Connection refused"));
        Throwable theirs = new RedisConnectionException(
                "Unable to connect", new CompletionException(new NettyRefusal("refused: /127.0.0.1:1")));
        assertEquals("ConnectException: Connection refused", ours);
        assertEquals(
                "RL-201 " + ours.replaceFirst(": .*", ""),
                RedisFailure.whileConnecting(theirs, false).replaceFirst(": .*", ""));
    }

    private static final class NettyRefusal extends ConnectException {
        private static final long serialVersionUID = 1L;

        NettyRefusal(String message) {
            super(message);
        }
    }

    /** As the host of a container does while its Redis is down. */
    @Test
    void aPortThatTakesConnectionsForNobody() throws IOException {
        AtomicInteger taken = new AtomicInteger();
        try (ServerSocket forwarder = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Thread closing = new Thread(() -> {
                while (true) {
                    try (Socket connection = forwarder.accept()) {
                        taken.incrementAndGet();
                    } catch (IOException closed) {
                        return;
                    }
                }
            });
            closing.start();
            try (RedisBackend backend =
                    RedisBackend.builder().address(address()).build()) {
                Await.until("it tries", () -> taken.get() >= ATTEMPTS);
                // A connection is taken before its client knows that the attempt failed.
                awaitAttempts(ATTEMPTS);
                assertEquals(1, clientsMade(), clients.toString());
                assertReasons(1);
                assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
            }
        }
    }

    @Test
    void aConfigurationOfRedissonIsTriedWithOneClient() {
        Config config = new Config();
        config.useSingleServer().setAddress(address()).setRetryAttempts(0);
        int threads = redissonThreads();
        try (RedisBackend backend = RedisBackend.builder().config(config).build()) {
            awaitAttempts(ATTEMPTS);
            assertEquals(1, clientsMade(), clients.toString());
            assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
        }
        Await.until("no thread is left", () -> redissonThreads() <= threads);
    }

    /** A cluster and a sentinel that are not there: their clients too are made once, and are logged once. */
    @Test
    void noClusterAndNoSentinel() {
        try (RedisBackend cluster =
                        RedisBackend.builder().cluster(List.of(address())).build();
                RedisBackend master = RedisBackend.builder()
                        .sentinel("mymaster", List.of(address()))
                        .build()) {
            awaitAttempts(4 * ATTEMPTS);
            assertEquals(2, clientsMade(), clients.toString());
            assertReasons(2);
        }
    }

    /** Each backend tells its own, once. The first use of everything may take longer than a connection may, which is another one. */
    private void assertReasons(int backends) {
        List<String> told = attempts.of(Level.WARN, "RL-201");
        long names = told.stream()
                .map(line -> line.replaceAll(".* no connection to (.*) yet.*", "$1"))
                .distinct()
                .count();
        long reasons =
                told.stream().filter(line -> !line.contains("TimeoutException")).count();
        assertTrue(names == backends && reasons <= backends, attempts.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis+uds:///tmp/redis.sock", "redis://127.0.0.1", "redis://127.0.0.1:99999"})
    void anAddressThatCantBeIsToldOnceAndDoesNotThrow(String address) {
        try (RedisBackend backend = RedisBackend.builder().address(address).build()) {
            awaitAttempts(ATTEMPTS);
            assertReasons(1);
            assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
        }
    }

    private void awaitAttempts(int count) {
        Await.until(
                "it tries",
                () -> attempts.of(Level.DEBUG, "the attempt to connect failed").size() >= count);
    }

    private int clientsMade() {
        return clients.of(Level.INFO, "Redisson").size();
    }

    private String address() {
        return "redis://127.0.0.1:" + port;
    }

    private static int redissonThreads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("redisson"))
                .count();
    }
}
