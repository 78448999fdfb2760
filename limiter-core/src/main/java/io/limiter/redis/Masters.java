package io.limiter.redis;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClient;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.MasterSlaveEntry;

/**
 * The masters behind a client, as Redisson knows them now. The one place that looks behind Redisson's public API, which does
 * not tell on which master a key is. Where that is not to be seen (a client that is wrapped, say) all masters count as one.
 */
final class Masters {
    /** All of them, where they can't be told apart. */
    private static final Object ALL = "Redis";

    private final boolean cluster;
    private final @Nullable ConnectionManager connections;

    Masters(RedissonClient client) {
        this.cluster = client.getConfig().isClusterConfig();
        this.connections = connections(client);
    }

    /** Whether the keys of one call must share a slot. */
    boolean areCluster() {
        return cluster;
    }

    /** Whether there is more to be seen than one Redis. */
    boolean areToldApart() {
        return connections != null;
    }

    /** The master that has the key. The same object as long as it is the master. */
    Object of(String key) {
        ConnectionManager known = connections;
        if (known == null) {
            return ALL;
        }
        return master(cluster ? known.getEntry(known.calcSlot(key)) : known.getEntry(0));
    }

    /** All masters that are known now. */
    List<Object> all() {
        List<Object> all = new ArrayList<>();
        if (connections != null) {
            for (MasterSlaveEntry entry : connections.getEntrySet()) {
                Object master = master(entry);
                if (!all.contains(master)) {
                    all.add(master);
                }
            }
        }
        return all.isEmpty() ? List.of(ALL) : all;
    }

    /** The threads on which answers arrive; where they are not to be seen, the one that Netty has for all. */
    Iterable<EventExecutor> eventLoops() {
        return connections == null
                ? List.of(GlobalEventExecutor.INSTANCE)
                : connections.getServiceManager().getGroup();
    }

    /** How messages call a master: host and port. */
    static String name(Object master) {
        InetSocketAddress address = master instanceof RedisClient client ? client.getAddr() : null;
        return address == null ? "Redis" : "Redis at " + address.getHostString() + ":" + address.getPort();
    }

    private static Object master(@Nullable MasterSlaveEntry entry) {
        RedisClient client = entry == null ? null : entry.getClient();
        return client == null ? ALL : client;
    }

    private static @Nullable ConnectionManager connections(RedissonClient client) {
        try {
            return client instanceof Redisson redisson
                    ? redisson.getCommandExecutor().getConnectionManager()
                    : null;
        } catch (LinkageError changed) {
            return null;
        }
    }
}
