package io.limiter.faults;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A cluster of three masters, the first of which may have a replica. */
final class ClusterStage implements Stage {
    private static final int TIMEOUT_MILLIS = 2_000;
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final List<Integer> ports;
    /** Of the masters, then of the replica. */
    private final List<Long> pids = new ArrayList<>();
    /** To the masters, then to the replica. */
    private final List<Admin> admins = new ArrayList<>();

    private ClusterStage(boolean withReplica) {
        ports = new ArrayList<>(RedisServers.startCluster(TIMEOUT_MILLIS));
        if (withReplica) {
            ports.add(RedisServers.startClusterReplica(ports, TIMEOUT_MILLIS));
        }
        for (int port : ports) {
            pids.add(RedisServers.pid(port));
            admins.add(new Admin(port));
        }
    }

    static ClusterStage ofMasters() {
        return new ClusterStage(false);
    }

    static ClusterStage withReplica() {
        return new ClusterStage(true);
    }

    void signalFirstMaster(String name) {
        RedisServers.signal(name, pids.get(0));
    }

    /** Returns when the replica is the first master, and all that are left know it. */
    void awaitPromotion() {
        Await.until(
                LONGEST,
                "the replica is promoted",
                () -> admins.get(3).text("INFO", "replication").contains("role:master")
                        && admins.subList(1, 4).stream()
                                .allMatch(node -> node.text("CLUSTER", "INFO").contains("cluster_state:ok")));
    }

    /** The masters. */
    List<Admin> masters() {
        return admins.subList(0, 3);
    }

    int port(Admin master) {
        return ports.get(admins.indexOf(master));
    }

    @Override
    public String way() {
        return "limiter.redis.mode = cluster\nlimiter.redis.address = "
                + ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(", ")) + "\n";
    }

    @Override
    public String auditorsWay() {
        return way();
    }

    @Override
    public boolean decidesAtOnce() {
        return false;
    }

    @Override
    public void close() {
        admins.forEach(Admin::close);
        for (long pid : pids) {
            if (ProcessHandle.of(pid).isPresent()) {
                RedisServers.signal("KILL", pid);
            }
        }
    }
}
