package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/** What a sale of 10 000 does to other policies on the same Redis when its unpaid holds run out together. */
@Tag("soak")
class StockNeighboursTest {
    private static final int HOLDS = 10_000;
    private static final long HOLD_MICROS = 900_000_000;
    private static final int ROUNDS = 40;
    private static final double MOST_MORE = 0.05;

    private final Policy sale = Policy.of(
            "sale",
            Limit.allotment(
                    HOLDS, 1, Duration.ofNanos(HOLD_MICROS * 1_000), null, Instant.parse("2099-01-01T00:00:00Z")));
    private final Policy neighbour = Policy.of("api", Limit.fixedWindow(1_000_000, Duration.ofHours(1)));

    @Test
    void theyAreAnsweredByRedisAsBefore() throws Exception {
        int port = RedisServers.freePort();
        redis.embedded.RedisServer server = RedisServers.start(port);
        try (Jedis redis = new Jedis("127.0.0.1", port);
                RedisBackend backend = RedisBackend.builder()
                        .address("redis://127.0.0.1:" + port)
                        .prefix("n")
                        .deadline(Duration.ofMillis(50))
                        .build();
                RateLimiter limiter = RateLimiters.on(backend)) {
            assertTrue(backend.awaitConnected(Duration.ofSeconds(60)));
            share(limiter, 0);
            double alone = share(limiter, 0);
            sellAll(redis, System.currentTimeMillis() * 1_000 - HOLD_MICROS / 2);
            double live = share(limiter, HOLDS);
            redis.flushAll();
            sellAll(redis, System.currentTimeMillis() * 1_000 - HOLD_MICROS - HOLDS - 1_000_000);
            // One is paid, so the others are not forgotten as a whole.
            pay(redis);
            double ranOut = share(limiter, 2 * HOLDS);
            System.out.printf(
                    "answered by a failure mode: without a sale %.3f, on hold %.3f, run out %.3f%n",
                    alone, live, ranOut);
            assertTrue(ranOut <= Math.max(alone, live) + MOST_MORE, alone + " " + live + " " + ranOut);
        } finally {
            RedisServers.stop(server);
        }
    }

    private void sellAll(Jedis redis, long from) {
        String key = new RedisKeys("n", null)
                .of(sale, PartitionKey.global(), sale.limits().get(0));
        String sha = redis.scriptLoad(
                Script.alone(io.limiter.internal.Algorithm.ALLOTMENT).text());
        Pipeline pipeline = redis.pipelined();
        for (int i = 0; i < HOLDS; i++) {
            pipeline.evalsha(
                    sha,
                    List.of(key, key + ":holds"),
                    List.of(
                            "1",
                            "" + HOLDS,
                            "" + HOLD_MICROS,
                            "1",
                            "" + (from + i),
                            "m" + i,
                            "",
                            "o" + i,
                            "opens=0,closes=4000000000000000"));
        }
        pipeline.sync();
    }

    private void pay(Jedis redis) {
        String key = new RedisKeys("n", null)
                .of(sale, PartitionKey.global(), sale.limits().get(0));
        String stamp = redis.hget(key, "rm5 o5");
        String at = Long.toString(Long.parseLong(stamp) + 1);
        redis.eval(
                Script.alone(io.limiter.internal.Algorithm.ALLOTMENT).text(),
                List.of(key, key + ":holds"),
                List.of(
                        "1",
                        "" + HOLDS,
                        "" + HOLD_MICROS,
                        "1",
                        at,
                        "m5",
                        "back:" + stamp,
                        "",
                        "opens=0,closes=4000000000000000,keep"));
    }

    /** The share of calls under the other policy that Redis did not answer in time. Ten looks and five purchases a second. */
    private double share(RateLimiter limiter, int buyers) {
        int calls = 0;
        int failed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            List<java.util.concurrent.CompletableFuture<Decision>> all = new ArrayList<>();
            if (buyers > 0) {
                limiter.acquireAsync(PermitRequest.of(List.of(new Charge(sale, PartitionKey.global(), 0, null, null))));
                if (round % 2 == 0) {
                    limiter.acquireAsync(PermitRequest.of(List.of(
                            new Charge(sale, PartitionKey.global(), 1, null, PartitionKey.of("b" + buyers + round)))));
                }
            }
            for (int i = 0; i < 20; i++) {
                all.add(limiter.acquireAsync(
                                PermitRequest.of(List.of(new Charge(neighbour, PartitionKey.of("c" + i + round), 1))))
                        .toCompletableFuture());
            }
            for (var one : all) {
                calls++;
                failed += one.join().source() == Decision.Source.REDIS ? 0 : 1;
            }
            LockSupport.parkNanos(100_000_000);
        }
        return (double) failed / calls;
    }
}
