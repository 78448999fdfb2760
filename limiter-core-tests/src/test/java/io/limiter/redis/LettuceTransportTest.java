package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Access;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;

/** What the limiter does with a client of Lettuce, and what it asks either client that is no decision. */
class LettuceTransportTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Policy POLICY = Policy.of("lettuce", Limit.fixedWindow(100_000, Duration.ofHours(1)))
            .withFailureMode(FailureMode.DENY);

    private static List<String> addresses(Jedis redis, String name) {
        return redis.clientList()
                .lines()
                .filter(line -> line.contains("name=" + name))
                .map(line -> line.replaceAll(".* addr=(\\S+) .*", "$1"))
                .toList();
    }

    private static RedisURI at(String name) {
        RedisURI at = RedisURI.create(RedisServers.single());
        at.setClientName(name);
        return at;
    }

    /** An application's client may send commands again; what it was given is left as it is. */
    @Test
    void aGivenClientIsNeitherUsedNorChanged() {
        RedisClient given = RedisClient.create();
        ClientOptions options = given.getOptions();
        try (Jedis redis = RedisServers.jedis()) {
            RateLimiter limiter = Backends.limiter(RedisBackend.builder()
                    .lettuce(given, at("lettuce-given"))
                    .prefix("lettuce-given")
                    .deadline(Duration.ofSeconds(30)));
            assertTrue(limiter.tryAcquire(POLICY, KEY, 1).allowed());
            assertEquals(1, addresses(redis, "lettuce-given").size(), "one connection to a master");
            limiter.close();
            Await.until("it is closed", () -> addresses(redis, "lettuce-given").isEmpty());
            assertSame(options, given.getOptions());
            given.connect(RedisURI.create(RedisServers.single())).close();
        } finally {
            given.shutdown();
        }
    }

    @Test
    void aClientDoesNotTellItsAddress() {
        RedisClient given = RedisClient.create(RedisURI.create(RedisServers.single()));
        try {
            Throwable refused = assertThrows(
                    IllegalArgumentException.class, () -> RedisBackend.builder().lettuce(given));
            Facts.told(String.valueOf(refused.getMessage()), "RL-116", "RedisURI.create(");
            refused = assertThrows(
                    IllegalArgumentException.class, () -> RedisBackend.builder().lettuce(given, at("one"), at("two")));
            Facts.told(String.valueOf(refused.getMessage()), "RL-116", "RedisClusterClient");
        } finally {
            given.shutdown();
        }
    }

    /** Connections are killed under load: no call waits for its deadline of 60 s, and none is counted twice. */
    @ParameterizedTest
    @EnumSource
    void whenConnectionsCloseTheirCallsEndAtOnce(RedisClientKind client) {
        ClientKillParams others = new ClientKillParams().skipMe(ClientKillParams.SkipMe.YES);
        try (OwnRedis own = OwnRedis.start();
                Jedis redis = own.jedis();
                RateLimiter limiter =
                        Backends.limiter(client.builder().address(own.address()).deadline(Duration.ofSeconds(60)))) {
            long allowed = 0;
            long asked = 0;
            for (int round = 0; round < 20; round++) {
                long began = System.nanoTime();
                List<CompletableFuture<Decision>> answers = IntStream.range(0, 200)
                        .mapToObj(i -> limiter.acquireAsync(PermitRequest.of(POLICY, KEY, 1)))
                        .toList();
                redis.clientKill(others);
                asked += answers.size();
                allowed += answers.stream().filter(one -> one.join().allowed()).count();
                assertTrue(System.nanoTime() - began < 50_000_000_000L, "they ended before their deadline");
            }
            Await.until(
                    "Redis is asked again",
                    () -> limiter.tryAcquire(POLICY, KEY, 0).source() == Decision.Source.REDIS);
            long counted = 100_000 - Looks.left(limiter, POLICY, KEY);
            assertTrue(counted >= allowed && counted <= asked, counted + " of " + asked + ", " + allowed + " allowed");
        }
    }

    /** As the client does with what it has buffered when its connection closes. */
    @Test
    void aCommandThatIsCancelledEndsOnce() {
        List<Throwable> ends = new ArrayList<>();
        LettuceCommand command = new LettuceCommand(List.of("GET", "k"), (reply, failure) -> ends.add(failure));
        command.cancel();
        command.cancel();
        command.complete();
        command.completeExceptionally(new IllegalStateException("late"));
        assertEquals(1, ends.size());
        assertInstanceOf(ConnectionLost.class, ends.get(0));
    }

    /** A node that was reset, or is not a member yet: those that know the masters are asked. */
    @Test
    void aNodeOfAClusterThatKnowsNoSlotsIsNotBelieved() {
        try (OwnRedis lonely = OwnRedis.start("cluster-enabled yes");
                RateLimiter limiter = Backends.limiter(Backends.redis()
                        .lettuce()
                        .cluster(Stream.concat(Stream.of(lonely.address()), RedisServers.cluster().stream())
                                .toList()))) {
            assertEquals(
                    Decision.Source.REDIS, limiter.tryAcquire(POLICY, KEY, 1).source());
        }
    }

    /** Another one has taken its place, on the same timer. */
    @Test
    void aTransportThatIsClosedAsksNobody() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        try {
            LettuceClients.of(RedisAddresses.cluster(List.of(RedisServers.nobody())))
                    .make(timer, 1)
                    .close();
            AtomicInteger quiet = new AtomicInteger();
            Await.until("it does nothing for longer than a second", () -> {
                boolean isQuiet = timer.getQueue().isEmpty() && timer.getActiveCount() == 0;
                return quiet.updateAndGet(before -> isQuiet ? before + 1 : 0) > 150;
            });
        } finally {
            timer.shutdownNow();
        }
    }

    /** Its login was on its way when the transport ended; the application's threads go on. */
    @Test
    void whatIsOpenedAfterTheEndIsClosed() {
        RedisClient given = RedisClient.create();
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        CompletableFuture<RedisCredentials> login = new CompletableFuture<>();
        RedisURI at = at("opened-late");
        at.setCredentialsProvider(() -> Mono.fromFuture(login));
        try (Jedis redis = RedisServers.jedis()) {
            Transport late = LettuceClients.given(false, given.getOptions(), given.getResources(), List.of(at))
                    .make(timer, 1);
            CompletableFuture<?> answer = late.ask("k", List.of("PING"));
            late.close();
            login.complete(RedisCredentials.just(null, (CharSequence) null));
            Throwable ended = assertThrows(CompletionException.class, answer::join);
            assertInstanceOf(ConnectionLost.class, ended.getCause());
            Await.until("it is closed", () -> addresses(redis, "opened-late").isEmpty());
        } finally {
            timer.shutdownNow();
            given.shutdown();
        }
    }

    /** Of a container of Docker Compose, or what else is no word of a URI. */
    @ParameterizedTest
    @CsvSource({
        "redis://my_redis:6379, my_redis 6379 0 false",
        "rediss://user:secret@redis.1:6380/2, redis.1 6380 2 true",
        "redis://[::1]:6379, ::1 6379 0 false"
    })
    void hostsAreThoseOfTheAddress(String address, String parts) {
        RedisURI uri = ((LettuceClients) LettuceClients.of(RedisAddresses.single(address)))
                .addresses()
                .get(0);
        String host = uri.getHost().replaceAll("[\\[\\]]", "");
        assertEquals(parts, host + " " + uri.getPort() + " " + uri.getDatabase() + " " + uri.isSsl());
    }

    @Test
    void ofBothClientsRedissonIsUsedAndTheLogSaysIt() {
        try (LogLines log = new LogLines("io.limiter", Level.INFO)) {
            Backends.limiter(Backends.redis().address(RedisServers.single())).close();
            assertTrue(log.toString().contains("Redisson is used; for the other set limiter.redis.client = lettuce"));
        }
    }

    /** A key that has moved to the master to which its slot moves is asked for there. */
    @Test
    void aCallFollowsItsKeyWhileItsSlotMoves() throws IOException {
        List<Integer> ports = RedisServers.startCluster();
        Wire named = Wire.to(ports.get(0));
        RedisURI first = RedisURI.create(named.address());
        RedisClusterClient given = RedisClusterClient.create(first);
        try (named;
                Jedis from = RedisServers.jedis(ports.get(0));
                Jedis to = RedisServers.jedis(ports.get(1));
                RateLimiter limiter = Backends.limiter(
                        RedisBackend.builder().lettuce(given, first).deadline(Duration.ofSeconds(30)))) {
            PartitionKey client = IntStream.range(0, 1_000)
                    .mapToObj(i -> PartitionKey.of("client" + i))
                    .filter(one -> {
                        limiter.tryAcquire(POLICY, one, 1);
                        return !from.keys("*:" + one + "}*").isEmpty();
                    })
                    .findFirst()
                    .orElseThrow();
            String key = from.keys("*:" + client + "}*").iterator().next();
            int slot = Math.toIntExact(from.clusterKeySlot(key));
            to.clusterSetSlotImporting(slot, from.clusterMyId());
            from.clusterSetSlotMigrating(slot, to.clusterMyId());
            from.migrate("127.0.0.1", ports.get(1), key, 0, 10_000);
            assertEquals(99_998, limiter.tryAcquire(POLICY, client, 1).remaining(), "by ASK");
            for (int port : ports) {
                try (Jedis node = RedisServers.jedis(port)) {
                    node.clusterSetSlotNode(slot, to.clusterMyId());
                }
            }
            assertEquals(99_997, limiter.tryAcquire(POLICY, client, 1).remaining(), "by MOVED");
            assertEquals(99_996, limiter.tryAcquire(POLICY, client, 1).remaining());
            int connections = named.connections();
            long asked = timesAsked(ports);
            Await.until("masters were asked who they are", () -> timesAsked(ports) > asked + 2);
            assertEquals(connections, named.connections(), "not the address that was named, by a new connection each");
        } finally {
            given.shutdown();
            ports.forEach(port -> RedisServers.signal("KILL", RedisServers.pid(port)));
        }
    }

    private static long timesAsked(List<Integer> ports) {
        return ports.stream()
                .mapToLong(port -> {
                    try (Jedis node = RedisServers.jedis(port)) {
                        return node.info("commandstats")
                                .lines()
                                .filter(line -> line.startsWith("cmdstat_cluster"))
                                .mapToLong(line -> Long.parseLong(line.replaceFirst("[^=]*=(\\d+),.*", "$1")))
                                .sum();
                    }
                })
                .sum();
    }

    /** A firewall that has forgotten the connections drops what they send, and the system does not notice for a quarter of an hour. */
    @ParameterizedTest
    @EnumSource
    void connectionsThatTheNetworkHasForgottenAreReplaced(RedisClientKind client) throws Exception {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                RedisBackend backend = Backends.connected(
                        client.builder().address(wire.address()).prefix("forgotten"));
                RateLimiter limiter = RateLimiters.on(backend);
                PlainCommands plain = PlainCommands.of(Access.LIBRARY, backend, Duration.ofSeconds(1))) {
            Await.until("the other connection is open too", () -> isAnswered(plain));
            wire.forgetOpen();
            Await.until(
                    "Redis decides again",
                    () -> limiter.tryAcquire(POLICY, KEY, 1).source() == Decision.Source.REDIS);
            Await.until("others have answers", () -> isAnswered(plain));
        }
    }

    private static boolean isAnswered(PlainCommands plain) {
        try {
            return plain.texts(List.of("forgotten"), 5).size() == 1;
        } catch (BackendException notYet) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource
    void plainCommandsOverEitherClient(RedisClientKind client) {
        try (PlainCommands plain = PlainCommands.open(
                        Access.LIBRARY, client.builder().address(RedisServers.single()), Duration.ofSeconds(30));
                Jedis redis = RedisServers.jedis()) {
            String key = "plain-" + client;
            redis.set(key, "grün und blau");
            redis.hset(key + "-hash", Map.of("a", "1", "b", ""));
            assertEquals(List.of("grün", "", "grün"), plain.texts(List.of(key, key + "-none", key), 5));
            assertEquals(Map.of("a", "1", "b", ""), plain.fields(key + "-hash"));
            assertEquals(Map.of(), plain.fields(key + "-none"));
            assertEquals(List.of("7", key, "x"), plain.run("return {7, KEYS[1], ARGV[1]}", List.of(key), List.of("x")));
        }
    }

    @ParameterizedTest
    @EnumSource
    void plainCommandsInAClusterGoToTheMasterOfTheirKey(RedisClientKind client) {
        try (PlainCommands plain = PlainCommands.open(
                Access.LIBRARY, client.builder().cluster(RedisServers.cluster()), Duration.ofSeconds(30))) {
            for (int i = 0; i < 20; i++) {
                List<String> key = List.of("plain-" + client + i);
                assertEquals(
                        List.of("OK"),
                        plain.run("return {redis.call('SET', KEYS[1], ARGV[1]).ok}", key, List.of("v" + i)));
                assertEquals(List.of("v" + i), plain.texts(key, 10));
            }
        }
    }
}
