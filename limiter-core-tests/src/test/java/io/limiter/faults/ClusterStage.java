package io.limiter.faults;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** A cluster of three masters, the first of which may have a replica. */
final class ClusterStage implements Stage {
    private static final int TIMEOUT_MILLIS = 2_000;

    private final List<Integer> ports;
    /** Of the masters, then of the replica. */
    private final List<Long> pids = new ArrayList<>();
    /** To the masters, then to the replica. */
    private final List<Admin> admins = new ArrayList<>();

    /** To the masters; none if the limiter reaches them directly. */
    private final List<Wire> wires;

    private ClusterStage(List<Integer> masters, List<Wire> wires, boolean withReplica) {
        ports = new ArrayList<>(masters);
        this.wires = wires;
        if (withReplica) {
            ports.add(RedisServers.startClusterReplica(ports, TIMEOUT_MILLIS));
        }
        for (int port : ports) {
            pids.add(RedisServers.pid(port));
            admins.add(new Admin(port));
        }
    }

    static ClusterStage ofMasters() {
        return new ClusterStage(RedisServers.startCluster(TIMEOUT_MILLIS), List.of(), false);
    }

    static ClusterStage withReplica() {
        return new ClusterStage(RedisServers.startCluster(TIMEOUT_MILLIS), List.of(), true);
    }

    /** The nodes tell clients to come through wires. */
    static ClusterStage wired() {
        List<Integer> ports = new ArrayList<>();
        List<Wire> wires = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int port = RedisServers.freePort();
            Wire wire = Wire.to(port);
            RedisServers.startNewer(
                    port,
                    "cluster-enabled yes",
                    "cluster-config-file nodes.conf",
                    "cluster-announce-port " + wire.port(),
                    "cluster-announce-bus-port " + (port + 10_000));
            ports.add(port);
            wires.add(wire);
        }
        RedisServers.form(ports);
        return new ClusterStage(ports, wires, false);
    }

    /**
     * From now on the batch script has a first line by which Redis 7 and newer keep it from keys of several slots. It has another hash: the
     * wires put that into the commands.
     */
    void refuseScriptsOfSeveralSlots() {
        String batch = RedisBackend.scripts().get("batch");
        String refused = "#!lua\n" + batch;
        for (Admin node : admins) {
            node.ask("SCRIPT", "LOAD", refused);
        }
        wires.forEach(wire -> wire.replace(sha(batch), sha(refused)));
    }

    /** Fails unless calls have met it. */
    void expectRefusals() {
        if (wires.stream().noneMatch(Wire::hasReplaced)) {
            throw new AssertionError("nobody met the fault");
        }
    }

    private static String sha(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    void signalFirstMaster(String name) {
        RedisServers.signal(name, pids.get(0));
    }

    /** Returns when the replica is the first master, and all that are left know it. */
    void awaitPromotion() {
        Await.until(
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
                + (wires.isEmpty() ? ports.stream() : wires.stream().map(Wire::port))
                        .map(port -> "redis://127.0.0.1:" + port)
                        .collect(Collectors.joining(", "))
                + "\n";
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
    public void close() throws IOException {
        for (Wire wire : wires) {
            wire.close();
        }
        admins.forEach(Admin::close);
        for (long pid : pids) {
            if (ProcessHandle.of(pid).isPresent()) {
                RedisServers.signal("KILL", pid);
            }
        }
    }
}
