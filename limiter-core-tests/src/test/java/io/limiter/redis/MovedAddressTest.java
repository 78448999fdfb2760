package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.JedisClusterCRC16;
import redis.embedded.RedisServer;

/** The ways in which an address moves to another master, each with the time until it decides; a call every ten milliseconds. */
@Tag("long")
class MovedAddressTest {
    private static final int LIMIT = 1_000_000;
    private static final int CALLS = 20;
    private static final int LAST_SLOT_OF_FIRST = 5_460;
    private static final Policy DENY =
            Policy.of("deny", Limit.fixedWindow(LIMIT, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    static Stream<Arguments> oldsAndClients() {
        return Stream.of(Old.values())
                .flatMap(old -> Stream.of(RedisClientKind.values()).map(client -> Arguments.of(old, client)));
    }

    /** What becomes of the old master. */
    private enum Old {
        DIES,
        STAYS_AS_A_REPLICA,
        IS_STOPPED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }

        /** That it dies or stops; a replica is made otherwise. */
        void end(long pid) {
            if (this != STAYS_AS_A_REPLICA) {
                RedisServers.signal(this == DIES ? "KILL" : "STOP", pid);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("oldsAndClients")
    void behindAProxy(Old old, RedisClientKind client) throws IOException {
        int first = RedisServers.freePort();
        int second = RedisServers.freePort();
        RedisServer one = RedisServers.start(first);
        RedisServer two = RedisServers.start(second, "replicaof 127.0.0.1 " + first);
        long pid = RedisServers.pid(first);
        RedisServers.awaitReplicating(second);
        try (Wire wire = Wire.to(first)) {
            RedisBackend.Builder builder = client.builder().address(wire.address());
            measure("proxy, " + client, old, builder, PartitionKey.of("client"), isMaster("127.0.0.1", second), () -> {
                wire.lead(second);
                promote(old, "127.0.0.1", first, second, pid);
            });
        } finally {
            stop(pid, one, two);
        }
    }

    /** A master that was started again answers LOADING for as long as its data needs. */
    @Test
    void behindAProxyWhileTheFirstLoads() throws IOException {
        int first = RedisServers.freePort();
        int second = RedisServers.freePort();
        RedisServer one = RedisServers.startNewer(
                first,
                "enable-debug-command yes",
                "rdbcompression no",
                "key-load-delay 100000",
                "loading-process-events-interval-bytes 1024");
        RedisServer two = RedisServers.start(second);
        long pid = RedisServers.pid(first);
        try (Wire wire = Wire.to(first)) {
            RedisBackend.Builder builder = RedisBackend.builder().address(wire.address());
            measure("proxy, single", "loads", builder, PartitionKey.of("client"), () -> true, () -> {
                load(first);
                wire.lead(second);
            });
        } finally {
            RedisServers.signal("KILL", pid);
            RedisServers.stop(one);
            RedisServers.stop(two);
        }
    }

    /** Makes it load a thousand keys, ten in a second. */
    private static void load(int port) {
        try (Jedis redis = RedisServers.jedis(port)) {
            for (int i = 0; i < 1_000; i++) {
                redis.set("key" + i, "x".repeat(2_000));
            }
        }
        Thread loading = new Thread(() -> {
            try (Jedis redis = RedisServers.jedis(port)) {
                redis.sendCommand(Protocol.Command.DEBUG, "RELOAD");
            } catch (JedisConnectionException killed) {
                // At the end of the test.
            }
        });
        loading.setDaemon(true);
        loading.start();
        try (Jedis redis = RedisServers.jedis(port)) {
            Await.until("it loads", () -> {
                try {
                    redis.get("key");
                    return false;
                } catch (JedisDataException refused) {
                    return refused.getMessage().startsWith("LOADING");
                }
            });
        }
    }

    @ParameterizedTest
    @MethodSource("oldsAndClients")
    void byItsName(Old old, RedisClientKind client) {
        int port = RedisServers.freePort();
        RedisServer one = RedisServers.start(port);
        RedisServer two = RedisServers.start(port, "bind 127.0.0.2", "replicaof 127.0.0.1 " + port);
        long pid = RedisServers.pid(port);
        Names names = new Names();
        try (Jedis next = RedisServers.jedis("redis://127.0.0.2:" + port)) {
            Await.until("it replicates", () -> next.info("replication").contains("master_link_status:up"));
            RedisBackend.Builder builder =
                    client == RedisClientKind.LETTUCE ? lettuce(names, port) : redisson(names, port);
            measure("DNS, " + client, old, builder, PartitionKey.of("client"), isMaster("127.0.0.2", port), () -> {
                names.address = "127.0.0.2";
                promote(old, "127.0.0.2", port, port, pid);
            });
        } finally {
            stop(pid, one, two);
        }
    }

    /** As RedissonClients makes it of an address. */
    private static RedisBackend.Builder redisson(Names names, int port) {
        Config config = new Config();
        config.setAddressResolverGroupFactory((datagrams, sockets, servers) -> names);
        config.useSingleServer()
                .setAddress("redis://redis.test:" + port)
                .setDnsMonitoringInterval(1_000)
                .setPingConnectionInterval(1_500)
                .setConnectTimeout(500)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(4);
        return RedisBackend.builder().config(config);
    }

    private static RedisBackend.Builder lettuce(Names names, int port) {
        ClientResources resources =
                ClientResources.builder().addressResolverGroup(names).build();
        return RedisBackend.builder()
                .lettuce(RedisClient.create(resources), RedisURI.create("redis://redis.test:" + port));
    }

    @ParameterizedTest
    @MethodSource("oldsAndClients")
    void behindASentinel(Old old, RedisClientKind client) {
        int first = RedisServers.freePort();
        int second = RedisServers.freePort();
        RedisServer one = RedisServers.start(first);
        RedisServer two = RedisServers.start(second, "replicaof 127.0.0.1 " + first);
        long pid = RedisServers.pid(first);
        int port = RedisServers.startSentinel(first);
        try (Jedis sentinel = RedisServers.jedis(port)) {
            Await.until(
                    "the sentinel knows the replica",
                    () -> sentinel.sentinelReplicas(RedisServers.MASTER).stream()
                            .anyMatch(each -> "ok".equals(each.get("master-link-status"))));
            RedisBackend.Builder builder =
                    client.builder().sentinel(RedisServers.MASTER, List.of("redis://127.0.0.1:" + port));
            measure(
                    "sentinel, " + client,
                    old,
                    builder,
                    PartitionKey.of("client"),
                    isMaster("127.0.0.1", second),
                    () -> {
                        RedisServers.promoteSoon(sentinel);
                        old.end(pid);
                        if (old == Old.STAYS_AS_A_REPLICA) {
                            sentinel.sentinelFailover(RedisServers.MASTER);
                        }
                    });
        } finally {
            stop(pid, one, two);
        }
    }

    @ParameterizedTest
    @MethodSource("oldsAndClients")
    void inACluster(Old old, RedisClientKind client) {
        List<Integer> ports = RedisServers.startCluster();
        int replica = RedisServers.startClusterReplica(ports, 60_000);
        List<Integer> nodes = Stream.concat(ports.stream(), Stream.of(replica)).toList();
        long pid = RedisServers.pid(ports.get(0));
        PartitionKey key = IntStream.range(0, 1_000)
                .mapToObj(i -> "client" + i)
                .filter(one -> JedisClusterCRC16.getSlot("deny:" + one) <= LAST_SLOT_OF_FIRST)
                .map(PartitionKey::of)
                .findFirst()
                .orElseThrow();
        try (Jedis next = RedisServers.jedis(replica)) {
            RedisBackend.Builder builder = client.builder().cluster(RedisServers.addresses(ports));
            measure("cluster, " + client, old, builder, key, isMaster("127.0.0.1", replica), () -> {
                nodes.forEach(port -> configure(port, "cluster-node-timeout", "1000"));
                old.end(pid);
                if (old == Old.STAYS_AS_A_REPLICA) {
                    next.clusterFailover();
                }
            });
        } finally {
            if (old == Old.IS_STOPPED) {
                RedisServers.signal("CONT", pid);
            }
        }
    }

    private static void configure(int port, String name, String value) {
        try (Jedis node = RedisServers.jedis(port)) {
            node.configSet(name, value);
        }
    }

    private static void promote(Old old, String host, int first, int second, long pid) {
        if (old == Old.STAYS_AS_A_REPLICA) {
            try (Jedis onFirst = RedisServers.jedis(first)) {
                onFirst.set("last", "write");
                onFirst.waitReplicas(1, 60_000);
            }
        }
        old.end(pid);
        try (Jedis onSecond = RedisServers.jedis("redis://" + host + ":" + second)) {
            onSecond.slaveofNoOne();
        }
        if (old == Old.STAYS_AS_A_REPLICA) {
            try (Jedis onFirst = RedisServers.jedis(first)) {
                onFirst.slaveof(host, second);
            }
        }
    }

    private static void measure(
            String way,
            Object old,
            RedisBackend.Builder builder,
            PartitionKey key,
            BooleanSupplier isMoved,
            Runnable move) {
        try (RateLimiter limiter = Backends.limiter(builder)) {
            Await.until("it decides", () -> isDecided(limiter, key));
            int[] counts = new int[2];
            for (int i = 0; i < CALLS; i++) {
                counts[isDecided(limiter, key) ? 0 : 1]++;
            }
            move.run();
            long begun = System.nanoTime();
            Await.until("the new master decides", () -> {
                boolean hasMoved = isMoved.getAsBoolean();
                boolean isDecided = isDecided(limiter, key);
                counts[isDecided ? 0 : 1]++;
                return hasMoved && isDecided;
            });
            double seconds = (System.nanoTime() - begun) / 1e9;
            int[] inARow = {0};
            long[] lastFailure = {begun};
            Await.until("it goes on deciding", () -> {
                boolean isDecided = isDecided(limiter, key);
                counts[isDecided ? 0 : 1]++;
                inARow[0] = isDecided ? inARow[0] + 1 : 0;
                lastFailure[0] = isDecided ? lastFailure[0] : System.nanoTime();
                // Of calls with the usual deadline, which a busy machine misses now and then.
                return inARow[0] == 50;
            });
            System.out.printf(
                    "| %-19s | %-18s | %5.1f s | the last call by failure mode after %5.1f s | %4d of them |%n",
                    way, old, seconds, Math.max(seconds, (lastFailure[0] - begun) / 1e9), counts[1]);
            Decision state = Looks.at(limiter, DENY.withDeadline(Duration.ofSeconds(30)), key);
            assertEquals(Decision.Source.REDIS, state.source());
            // What was not replicated is lost, and what a failure mode answered was counted once or not at all.
            long used = LIMIT - state.remaining();
            assertTrue(
                    used <= 1 + counts[0] + counts[1], used + " of " + counts[0] + " decided, " + counts[1] + " not");
        }
    }

    private static BooleanSupplier isMaster(String host, int port) {
        return () -> {
            try (Jedis one = RedisServers.jedis("redis://" + host + ":" + port)) {
                return one.role().get(0).equals("master");
            } catch (JedisConnectionException changing) {
                // A sentinel ends the connections of a server whose role it changes.
                return false;
            }
        };
    }

    private static boolean isDecided(RateLimiter limiter, PartitionKey key) {
        return limiter.tryAcquire(DENY, key, 1).source() == Decision.Source.REDIS;
    }

    private static void stop(long pid, RedisServer... servers) {
        try {
            RedisServers.signal("CONT", pid);
        } catch (AssertionError gone) {
            // It has died.
        }
        for (RedisServer server : servers) {
            RedisServers.stop(server);
        }
    }

    /** Resolves each name to the address that it has now. */
    private static final class Names extends AddressResolverGroup<InetSocketAddress> {
        volatile String address = "127.0.0.1";

        @Override
        protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
            return new InetNameResolver(executor) {
                @Override
                protected void doResolve(String name, Promise<InetAddress> promise) throws UnknownHostException {
                    promise.setSuccess(now(name));
                }

                @Override
                protected void doResolveAll(String name, Promise<List<InetAddress>> promise)
                        throws UnknownHostException {
                    promise.setSuccess(List.of(now(name)));
                }
            }.asAddressResolver();
        }

        private InetAddress now(String name) throws UnknownHostException {
            return InetAddress.getByAddress(name, InetAddress.getByName(address).getAddress());
        }
    }
}
