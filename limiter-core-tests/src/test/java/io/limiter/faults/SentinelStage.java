package io.limiter.faults;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisServer;

/** A master with a replica, and a sentinel that watches them. */
final class SentinelStage implements Stage {
    private static final String DOWN_AFTER_MILLIS = "500";

    private final int masterPort = RedisServers.freePort();
    private final RedisServer master = RedisServers.start(masterPort);
    private final int replicaPort = RedisServers.freePort();
    private final RedisServer replica = RedisServers.start(replicaPort, "replicaof 127.0.0.1 " + masterPort);
    private final int sentinelPort = RedisServers.startSentinel(masterPort);
    private final long pid = RedisServers.pid(masterPort);

    private SentinelStage() {
        try (Admin sentinel = new Admin(sentinelPort)) {
            sentinel.ask("SENTINEL", "SET", RedisServers.MASTER, "down-after-milliseconds", DOWN_AFTER_MILLIS);
            RedisServers.awaitReplicating(replicaPort);
            Await.until(
                    "the sentinel knows the replica",
                    () -> sentinel.text("INFO", "sentinel").contains("slaves=1"));
        }
    }

    static SentinelStage started() {
        return new SentinelStage();
    }

    void killMaster() {
        RedisServers.signal("KILL", pid);
    }

    /** Returns when the replica is the master. */
    void awaitPromotion() {
        Await.until("the replica is promoted", this::isPromoted);
    }

    /** On a connection of its own each time: the sentinel ends all connections to what it promotes. */
    private boolean isPromoted() {
        try (Admin admin = new Admin(replicaPort)) {
            return admin.text("INFO", "replication").contains("role:master");
        } catch (JedisConnectionException ended) {
            return false;
        }
    }

    @Override
    public String way() {
        return "limiter.redis.mode = sentinel\nlimiter.redis.master = " + RedisServers.MASTER
                + "\nlimiter.redis.address = redis://127.0.0.1:" + sentinelPort + "\n";
    }

    @Override
    public String auditorsWay() {
        return "limiter.redis.address = redis://127.0.0.1:" + replicaPort + "\n";
    }

    @Override
    public void close() throws IOException {
        master.stop();
        replica.stop();
    }
}
