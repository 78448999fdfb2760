package io.limiter.example.fair.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.worker.TestRedis;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RBucket;
import org.redisson.api.RList;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import redis.embedded.RedisServer;

/** A lock over three real servers. The clients of one holder and of the other are different, as in two processes. */
@Tag("long")
class MajorityLockTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String NAME = MajorityHolder.LOCK;

    private final List<Integer> ports = new ArrayList<>();
    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedissonClient> mine = new ArrayList<>();
    private final List<RedissonClient> others = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < 3; i++) {
            int port = RedisServers.freePort();
            ports.add(port);
            servers.add(RedisServers.start(port));
            mine.add(client(port));
            others.add(client(port));
        }
    }

    private static RedissonClient client(int port) {
        return TestRedis.connect("redis://127.0.0.1:" + port, Duration.ofMillis(1_000), LEASE);
    }

    @AfterEach
    void end() {
        mine.forEach(RedissonClient::shutdown);
        others.forEach(RedissonClient::shutdown);
        servers.forEach(RedisServers::stop);
    }

    private void kill(int server) {
        long pid = RedisServers.pid(ports.get(server));
        RedisServers.signal("KILL", pid);
        Await.until(
                TestRedis.LONG,
                "the server has ended",
                () -> ProcessHandle.of(pid).map(process -> !process.isAlive()).orElse(true));
    }

    @Test
    void oneHolderAtATime() {
        MajorityLock one = new MajorityLock(mine, NAME);
        MajorityLock other = new MajorityLock(others, NAME);

        MajorityLock.Held held = one.tryLock(LEASE).orElseThrow();
        assertEquals(Map.of("server0", 1L, "server1", 1L, "server2", 1L), held.tokens());
        assertTrue(other.tryLock(LEASE).isEmpty());

        one.unlock();
        assertEquals(
                Set.of(2L),
                Set.copyOf(other.tryLock(LEASE).orElseThrow().tokens().values()));
        one.unlock();
        assertTrue(one.tryLock(LEASE).isEmpty(), "nobody unlocks what another has locked");
    }

    @Test
    void aKilledServerCostsNothing() {
        kill(1);
        MajorityLock one = new MajorityLock(mine, NAME);

        MajorityLock.Held held = one.tryLock(LEASE).orElseThrow();

        assertEquals(Set.of("server0", "server2"), held.tokens().keySet());
        assertTrue(new MajorityLock(others, NAME).tryLock(LEASE).isEmpty());
        one.unlock();
        assertTrue(new MajorityLock(others, NAME).tryLock(LEASE).isPresent());
    }

    @Test
    void ofThreeServersTwoMustBeThere() {
        kill(0);
        kill(2);

        assertTrue(new MajorityLock(mine, NAME).tryLock(LEASE).isEmpty());
    }

    /** Which of Redisson's own classes to take: MultiLock wants all servers, RedLock is deprecated, and neither gives a token. */
    @Test
    void redissonsMultiLockNeedsAllServersAndItsRedLockIsDeprecated() throws Exception {
        kill(1);
        RLock[] locks = mine.stream().map(server -> server.getLock(NAME)).toArray(RLock[]::new);

        assertFalse(new RedissonMultiLock(locks).tryLock(0, 10_000, TimeUnit.MILLISECONDS));

        Class<?> redLock = Class.forName("org.redisson.RedissonRedLock");
        assertTrue(redLock.isAnnotationPresent(Deprecated.class));
        RLock old = (RLock) redLock.getConstructor(RLock[].class).newInstance((Object) locks);
        assertTrue(old.tryLock(0, 10_000, TimeUnit.MILLISECONDS));
    }

    /** What Redlock does not promise, 1: that a holder which was paused for longer than its lease knows it. */
    @Test
    void aHolderThatWasStoppedPastItsLeaseIsRefusedByItsTokensOnly() {
        RedissonClient resource = TestRedis.without("lock");
        List<String> arguments = new ArrayList<>(List.of(RedisServers.single()));
        ports.forEach(port -> arguments.add("redis://127.0.0.1:" + port));
        WorkerProcess sleeper = WorkerProcess.start(MajorityHolder.class, arguments.toArray(String[]::new));
        try {
            RBucket<String> unprotected = resource.getBucket(MajorityHolder.UNCHECKED_RESULT, StringCodec.INSTANCE);
            RList<String> writes = resource.getList(ResultSheet.LOG, StringCodec.INSTANCE);
            Await.until(
                    TestRedis.LONG,
                    "it holds the lock and has checked that",
                    () -> resource.getBucket(MajorityHolder.CHECKED, StringCodec.INSTANCE)
                            .isExists());
            sleeper.freeze();

            MajorityLock.Held next = await(new MajorityLock(others, NAME));
            unprotected.set("9 votes");
            assertTrue(new ResultSheet(resource).write("the next holder", "9 votes", next.tokens()));
            sleeper.thaw();

            Await.until(
                    TestRedis.LONG,
                    "it writes",
                    () -> writes.readAll().stream().anyMatch(line -> line.startsWith("REFUSED from sleeper")));
            assertEquals("7 votes", unprotected.get(), "without tokens the wrong result is kept");
            assertEquals(
                    "9 votes",
                    resource.getMap(ResultSheet.SHEET, StringCodec.INSTANCE).get("result"));
        } finally {
            sleeper.kill();
            resource.shutdown();
        }
    }

    /** What Redlock does not promise, 2: that there is one holder, once a server has lost its data. */
    @Test
    void aServerThatRestartsEmptyGivesTheLockToASecondHolder() {
        MajorityLock.Held first;
        kill(2);
        first = new MajorityLock(mine, NAME).tryLock(LEASE).orElseThrow();
        assertEquals(Set.of("server0", "server1"), first.tokens().keySet());

        kill(1);
        RedisServers.start(ports.get(1));
        RedisServers.start(ports.get(2));
        MajorityLock.Held second = await(new MajorityLock(others, NAME));

        assertTrue(first.untilNanos() > System.nanoTime(), "the first holder has not done anything wrong");
        assertEquals(Set.of("server1", "server2"), second.tokens().keySet());
    }

    private static MajorityLock.Held await(MajorityLock lock) {
        List<MajorityLock.Held> held = new ArrayList<>();
        Await.until(TestRedis.LONG, "the lock", () -> {
            Optional<MajorityLock.Held> got = lock.tryLock(LEASE);
            got.ifPresent(held::add);
            return got.isPresent();
        });
        return held.get(0);
    }
}
