package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Health.State;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** What an operator sees of a Redis that answers and decides nothing. */
class RefusingRedisTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /** It answers, and every caller under `deny` gets 503: health reports it, with the code, until it decides again. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RL-204 | CONFIG SET maxmemory 1 | CONFIG SET maxmemory 0",
                "RL-224 | CONFIG SET min-replicas-to-write 1 | CONFIG SET min-replicas-to-write 0",
                "RL-203 | REPLICAOF 127.0.0.1 1 | REPLICAOF NO ONE",
                "RL-209 | ACL SETUSER default -@write | ACL SETUSER default +@all",
                "RL-209 | ACL SETUSER default -evalsha | ACL SETUSER default +@all",
            })
    void itAnswersAndRefusesToDecide(String code, String harm, String remedy) {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        try (RedisBackend backend = RedisBackend.builder()
                        .address("redis://127.0.0.1:" + port)
                        .deadline(LONG)
                        .lookAgain(Duration.ofMillis(100))
                        .build();
                RateLimiter limiter = RateLimiters.on(backend);
                Jedis redis = new Jedis("127.0.0.1", port)) {
            assertTrue(backend.awaitConnected(LONG));
            Await.until("it decides", () -> HealthTest.ask(limiter) == Decision.Source.REDIS);
            assertTrue(
                    limiter.monitor().health().isDeciding(),
                    limiter.monitor().health().toString());

            run(redis, harm);
            Await.until("callers are refused", () -> HealthTest.ask(limiter) == Decision.Source.FAILED_CLOSED);
            Await.until(
                    "health reports it",
                    () -> !limiter.monitor().health().isDeciding()
                            && limiter.monitor().health().findings().stream().anyMatch(line -> line.startsWith(code)));
            assertEquals(
                    1, limiter.monitor().health().serversThatAre(State.REFUSES).size());

            run(redis, remedy);
            Await.until(
                    "it is well again",
                    () -> limiter.monitor().health().isDeciding()
                            && limiter.monitor().health().findings().isEmpty());
            assertEquals(Decision.Source.REDIS, HealthTest.ask(limiter));
        } finally {
            RedisServers.stop(server);
        }
    }

    private static void run(Jedis redis, String command) {
        String[] words = command.split(" ");
        redis.sendCommand(
                () -> words[0].getBytes(StandardCharsets.US_ASCII), Arrays.copyOfRange(words, 1, words.length));
    }
}
