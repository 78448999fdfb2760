package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Health.State;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.OwnRedis;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;

/** What an operator sees of a Redis that answers and decides nothing. */
class RefusingRedisTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final OwnRedis own = OwnRedis.start();
    private final Jedis operator = own.jedis();
    private final RedisBackend backend = Backends.connected(
            RedisBackend.builder().address(own.address()).deadline(LONG).lookAgain(Duration.ofMillis(100)));
    private final RateLimiter limiter = RateLimiters.on(backend);

    @AfterEach
    void stop() {
        limiter.close();
        operator.close();
        own.close();
    }

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
        Await.until("it decides", () -> HealthTest.ask(limiter) == Decision.Source.REDIS);
        assertTrue(backend.health().isDeciding(), backend.health().toString());

        run(harm);
        Await.until("callers are refused", () -> HealthTest.ask(limiter) == Decision.Source.FAILED_CLOSED);
        Await.until(
                "health reports it",
                () -> !backend.health().isDeciding()
                        && backend.health().findings().stream().anyMatch(line -> line.startsWith(code)));
        assertEquals(1, backend.health().serversThatAre(State.REFUSES).size());

        run(remedy);
        Await.until(
                "it is well again",
                () -> backend.health().isDeciding()
                        && backend.health().findings().isEmpty());
        assertEquals(Decision.Source.REDIS, HealthTest.ask(limiter));
    }

    private void run(String command) {
        String[] words = command.split(" ");
        operator.sendCommand(
                () -> words[0].getBytes(StandardCharsets.US_ASCII), Arrays.copyOfRange(words, 1, words.length));
    }

    /** As while it is stopped. Its rights are taken, or it needs a login from now on. */
    @ParameterizedTest
    @ValueSource(strings = {"-evalsha", "-@write", "resetpass >secret"})
    void aSettlementIsTriedAgain(String harm) {
        PartitionKey key = PartitionKey.of("k");
        Policy policy =
                Policy.of("p", Limit.fixedWindow(100, Duration.ofDays(1))).withHolds(10);
        Hold hold = limiter.reserve(policy, key, 10, Duration.ofHours(1));
        assertTrue(hold.allowed());
        operator.aclSetUser("default", harm.split(" "));
        operator.clientKill(new ClientKillParams().skipMe(SkipMe.YES));
        assertEquals(Settlement.PENDING, limiter.settle(hold, 4));
        operator.aclSetUser("default", "nopass", "+@all");
        Await.until("it is settled", () -> limiter.tryAcquire(policy, key, 0).remaining() == 96);
        assertEquals(0, limiter.monitor().holds("p", HoldCount.LOST));
    }
}
