package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.NettyHook;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;

/** The connection of the limiter's own, on clients of the application. */
class PipelineTest {
    private static final Policy POLICY =
            Policy.of("pipe", Limit.fixedWindow(100_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    private static Config config() {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(RedisServers.single())
                .setClientName("pipeline-test")
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(2);
        return config;
    }

    private static RateLimiter limiter(RedissonClient client, String prefix) {
        return Backends.limiter(
                RedisBackend.builder().client(client).prefix(prefix).deadline(Duration.ofSeconds(60)));
    }

    private static long connections(Jedis redis) {
        return redis.clientList()
                .lines()
                .filter(line -> line.contains("name=pipeline-test"))
                .count();
    }

    @Test
    void oneConnectionBesideThePoolIsOpenedAndClosed() {
        RedissonClient client = Redisson.create(config());
        try (Jedis redis = RedisServers.jedis()) {
            client.getBucket("unused").isExists();
            RateLimiter limiter = limiter(client, "pipe-one");
            limiter.tryAcquire(POLICY, PartitionKey.of("a"), 1);
            long during = connections(redis);
            limiter.close();
            Await.until("it is closed", () -> connections(redis) == during - 1);
            assertFalse(client.isShutdown());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void aNameMapperOfTheClientIsUsed() {
        Config config = config();
        config.setNameMapper(new DemotedMasterTest.Prefixed());
        RedissonClient client = Redisson.create(config);
        try (Jedis redis = RedisServers.jedis();
                RateLimiter limiter = limiter(client, "pipe-mapped")) {
            limiter.tryAcquire(POLICY, PartitionKey.of("a"), 1);
            assertEquals(
                    1,
                    redis.keys("p:pipe-mapped:{pipe:*").size(),
                    () -> redis.keys("p:*").toString());
            assertEquals(0, redis.keys("pipe-mapped:*").size());
        } finally {
            client.shutdown();
        }
    }

    /** A client whose channels the test sees, and the way to its server. */
    private static final class Watched implements AutoCloseable {
        final List<Channel> channels = new CopyOnWriteArrayList<>();
        final RedisKeys keys = new RedisKeys("pipe-watched", null);
        final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        final RedissonClient client;
        final Transport transport;
        final Object master;
        /** That of the limiter's own connection. */
        final Channel own;

        Watched() {
            Config config = config().setNettyHook(new NettyHook() {
                @Override
                public void afterBoostrapInitialization(Bootstrap bootstrap) {}

                @Override
                public void afterChannelInitialization(Channel channel) {
                    channels.add(channel);
                }
            });
            client = Redisson.create(config);
            transport = new RedissonTransport(client, false, timer);
            master = transport.master("k");
            probe().join();
            List<Channel> pool = List.copyOf(channels);
            run().join();
            own = channels.stream()
                    .filter(one -> !pool.contains(one))
                    .findFirst()
                    .orElseThrow();
        }

        private Command look() {
            return new SelfTest(transport, keys, master, TimeSource.system()).probe(20_000_000);
        }

        CompletableFuture<List<Object>> run() {
            CompletableFuture<List<Object>> answer = new CompletableFuture<>();
            transport.run(master, look(), (reply, failure) -> complete(answer, reply, failure));
            return answer;
        }

        /** A command whose reply is not read. */
        CompletableFuture<List<Object>> runUnread() {
            own.eventLoop().submit(() -> own.config().setAutoRead(false)).syncUninterruptibly();
            CompletableFuture<List<Object>> answer = run();
            Await.until(
                    "it is sent",
                    () -> !own.attr(CommandsQueue.COMMANDS_QUEUE).get().isEmpty());
            return answer;
        }

        CompletableFuture<List<Object>> probe() {
            CompletableFuture<List<Object>> answer = new CompletableFuture<>();
            transport.probe(master, look(), (reply, failure) -> complete(answer, reply, failure));
            return answer;
        }

        private static void complete(
                CompletableFuture<List<Object>> answer, @Nullable List<Object> reply, @Nullable Throwable failure) {
            if (failure == null) {
                answer.complete(reply);
            } else {
                answer.completeExceptionally(failure);
            }
        }

        @Override
        public void close() {
            transport.close();
            client.shutdown();
            timer.shutdown();
        }
    }

    @Test
    void aSilentConnectionIsReplacedWhenAnotherHasAnAnswer() {
        try (Watched watched = new Watched()) {
            CompletableFuture<List<Object>> unread = watched.runUnread();
            watched.probe().join();
            Await.until("what it waited for is lost", unread::isCompletedExceptionally);
            watched.run().join();
            assertFalse(watched.own.isOpen());
        }
    }

    @Test
    void oneWhoseThreadReadsLateIsNotSilent() {
        try (Watched watched = new Watched()) {
            CompletableFuture<List<Object>> late = watched.runUnread();
            CompletableFuture<Void> busy = new CompletableFuture<>();
            watched.own.eventLoop().execute(busy::join);
            watched.own.config().setAutoRead(true);
            watched.probe().join();
            // Much later than Redis answers.
            watched.transport.after(200_000, () -> busy.complete(null));
            late.join();
            watched.run().join();
            assertTrue(watched.own.isOpen());
        }
    }

    /** All it was asked is answered before another one is. */
    @Test
    void oneThatWaitsForNothingIsNotSilent() {
        try (Watched watched = new Watched()) {
            watched.probe().join();
            CompletableFuture<Void> later = new CompletableFuture<>();
            watched.transport.after(200_000, () -> later.complete(null));
            later.join();
            assertTrue(watched.own.isOpen());
        }
    }

    @Test
    void aCommandThatWasNotSentTakesTheNextConnection() {
        try (Watched watched = new Watched()) {
            CompletableFuture<Void> busy = new CompletableFuture<>();
            watched.own.eventLoop().execute(busy::join);
            watched.own.close();
            CompletableFuture<List<Object>> unsent = watched.run();
            busy.complete(null);
            unsent.join();
            assertFalse(watched.own.isOpen());
        }
    }
}
