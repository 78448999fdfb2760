package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Relay;
import io.limiter.kit.SeenScripts;
import io.limiter.servlet.WebServer.Answer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import redis.embedded.RedisServer;

/** What {@code count-on} gives back on a real Redis. */
class RefundOnRedisTest extends Served {
    private static final String RULES = """
            limiter.rules.one.path = /*
            limiter.rules.one.limits = 5/1h, 9/1d fixed
            limiter.rules.one.count-on = 401
            limiter.rules.two.path = /*
            limiter.rules.two.key = global
            limiter.rules.two.limits = 5/1h token-bucket
            limiter.rules.two.refund-on = 2xx
            limiter.rules.three.path = /page
            limiter.rules.three.limits = 5/1h
            limiter.rules.three.count-on = 401
            limiter.rules.kept.path = /*
            limiter.rules.kept.limits = 5/1h
            """;

    private Container start(Container.Kind kind, RateLimiter limiter) {
        return kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, RULES))
                .servlet("/page", Answer.status())
                .servlet("/forward", Answer.forward("/page"))
                .start();
    }

    private static List<Long> left(RateLimiter limiter) {
        Map<String, Policy> policies = WebServer.config(RULES).policies();
        PartitionKey address = PartitionKey.of("127.0.0.1");
        return List.of(
                Looks.left(limiter, policies.get("one"), address),
                Looks.left(limiter, policies.get("two"), PartitionKey.global()),
                Looks.left(limiter, policies.get("three"), address),
                Looks.left(limiter, policies.get("kept"), address));
    }

    private static void assertLeft(RateLimiter limiter, Long... expected) {
        Await.until(List.of(expected) + " left", () -> left(limiter).equals(List.of(expected)));
    }

    @ParameterizedTest
    @EachContainer
    void chargesOfTwoDispatchesAreGivenBackByOneCommand(Container.Kind kind) throws Exception {
        String prefix = "refunds-" + kind;
        Waiting backend = new Waiting(Backends.connected(Backends.shared().prefix(prefix)));
        try (RateLimiter limiter = RateLimiters.on(backend);
                SeenScripts seen = new SeenScripts(prefix, List.of(RedisServers.singlePort()));
                Container server = start(kind, limiter)) {
            server.get("/forward?s=401");
            assertLeft(limiter, 4L, 4L, 4L, 4L);
            backend.refunded.clear();
            List<String> commands = seen.during(() -> {
                server.get("/forward?s=200");
                Await.until("a refund", () -> !backend.refunded.isEmpty());
            });
            assertEquals(3, commands.size(), () -> "a decision for each dispatch, and a refund: " + commands);
            assertEquals(true, backend.refunded.poll());
            assertLeft(limiter, 4L, 4L, 4L, 3L);
            assertTrue(backend.refunded.isEmpty(), "one refund");
        }
    }

    /** Redis stops while the application runs: its client waits for nothing, and what was charged stays. */
    @ParameterizedTest
    @EachContainer
    void aRefundThatRedisDoesNotAnswerKeepsTheCharge(Container.Kind kind) throws Exception {
        int port = RedisServers.freePort();
        RedisServer redis = RedisServers.start(port);
        long pid = RedisServers.pid(port);
        String address = "redis://127.0.0.1:" + port;
        Waiting waiting = new Waiting(Backends.connected(Backends.withoutPings(address)));
        try (RateLimiter limiter = RateLimiters.on(waiting);
                Container server = kind.make(directory)
                        .filter("limiter", WebServer.limiter(limiter, RULES))
                        .servlet("/first", (request, response) -> {})
                        .servlet("/page", (request, response) -> RedisServers.signal("STOP", pid))
                        .start()) {
            // Not measured: all that a first request loads.
            assertEquals(200, server.get("/first").statusCode());
            assertEquals(true, waiting.refunded.poll(60, TimeUnit.SECONDS));
            assertEquals(200, server.get("/page").statusCode());
            assertTrue(waiting.refunded.isEmpty(), "the client waited for the refund");
            assertEquals(false, waiting.refunded.poll(60, TimeUnit.SECONDS));
        } finally {
            RedisServers.signal("CONT", pid);
            RedisServers.stop(redis);
        }
    }

    /** Records how each refund has ended. */
    private static final class Waiting extends Relay {
        private final BlockingQueue<Boolean> refunded = new LinkedBlockingQueue<>();

        Waiting(Backend backend) {
            super(backend);
        }

        @Override
        public CompletionStage<Boolean> refund(Decision decision) {
            return inner().refund(decision).whenComplete((given, failure) -> refunded.add(failure == null && given));
        }
    }
}
