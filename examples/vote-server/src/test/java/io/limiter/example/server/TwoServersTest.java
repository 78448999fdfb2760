package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.server.Caller.Answer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers, each a process of its own, share their limits on one Redis. */
@Tag("long")
@Timeout(120)
class TwoServersTest {
    @TempDir
    Path redisDirectory;

    @Test
    void of300VotesSpreadOverBothThreePass() throws Exception {
        try (TestRedis redis = TestRedis.start(redisDirectory)) {
            threePass(redis.port());
        }
    }

    private static void threePass(int redisPort) throws Exception {
        Map<String, String> environment = Map.of(
                "LIMITER_BACKEND",
                "redis",
                "LIMITER_REDIS_ADDRESS",
                "redis://127.0.0.1:" + redisPort,
                // A busy machine may take longer than usual, and then each would grant its own share.
                "LIMITER_REDIS_STARTUP_WAIT",
                "60s",
                "LIMITER_REDIS_DEADLINE",
                "30s",
                "LIMITER_RULES_VOTE_DEADLINE",
                "30s");
        try (ServerProcess one = ServerProcess.start(environment);
                ServerProcess other = ServerProcess.start(environment)) {
            List<Answer> answers = Caller.burst(300, "POST", "/api/votes?for=tea", one.port(), other.port());

            assertEquals(3, Caller.with(200, answers).size());
            List<Answer> denied = Caller.with(429, answers);
            assertEquals(297, denied.size());
            for (Answer answer : denied) {
                assertTrue(
                        answer.retryAfter() <= 10 && answer.retryAfter() >= 10 - answer.seconds(),
                        answer.retryAfter() + " s, answered after " + answer.seconds() + " s");
            }
            assertTrue(one.end() && other.end(), "a server did not end on SIGTERM");
            for (int port : new int[] {one.port(), other.port()}) {
                new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
            }
        }
    }
}
