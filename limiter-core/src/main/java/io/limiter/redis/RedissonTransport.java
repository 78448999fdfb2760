package io.limiter.redis;

import io.limiter.TimeSource;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisMovedException;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.ConnectionsHolder;
import org.redisson.connection.MasterSlaveEntry;
import org.redisson.connection.ServiceManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The masters behind a client, as Redisson knows them now, and the way to them: runs commands, each at most once. This class and
 * {@link Pipeline} use what is not Redisson's public API: that shows no master of a slot (so one dead master would open the breaker of
 * all), has no connection that a command does not share with those of the application (a pool, and a queue for it, at a third more
 * CPU time), and no way to retire one. If it is not accessible (for example in a wrapped client), all masters count as one, and
 * {@link RedissonScripts} has the commands, which is public API alone, as plain commands and probes are in any case. Thread-safe.
 */
final class RedissonTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(RedissonTransport.class);
    private static final TimeSource TIME = TimeSource.system();
    /** The one master that all count as, if they can't be distinguished. */
    private static final Object ALL = "Redis";

    /** With these pings a dead connection is replaced within ten seconds. */
    private static final int LONGEST_PING_MILLIS = 5_000;

    private static final int SHUTDOWN_SECONDS = 2;
    /** As long as Redisson by default waits before it asks a cluster for its masters again. */
    private static final long MOVES_COUNT_MICROS = 5_000_000;
    /** A name mapper of the client changes it, and the keys, as only the public API does. */
    private static final String PROBED_NAME = "limiter:{a}";

    final RedissonClient client;
    private final boolean ownsClient;
    private final ScheduledExecutorService timer;
    private final boolean cluster;
    private final @Nullable ConnectionManager connections;
    /** Whether commands go by the low-level client: it is as it is known here, and keys are as they are written. */
    private volatile boolean direct;

    private final RedissonScripts api;
    /** Masters of slots that have moved, as servers said since Redisson last asked for all of them. */
    private final Map<Integer, MasterSlaveEntry> moved = new ConcurrentHashMap<>();
    /** One for each master that the client knows. */
    private final Map<RedisClient, Pipeline> pipelines = new ConcurrentHashMap<>();

    private volatile long movesForgottenMicros;

    /**
     * @param ownsClient whether {@link #close} ends the client
     * @param timer runs tasks that do not block; drops them after it is closed
     */
    RedissonTransport(RedissonClient client, boolean ownsClient, ScheduledExecutorService timer) {
        this.client = client;
        this.ownsClient = ownsClient;
        this.timer = timer;
        this.api = new RedissonScripts(client);
        this.cluster = client.getConfig().isClusterConfig();
        this.connections = connections(client);
        this.direct = connections != null
                && PROBED_NAME.equals(
                        connections.getServiceManager().getNameMapper().map(PROBED_NAME));
    }

    @Override
    public boolean isCluster() {
        return cluster;
    }

    /** None if they are not accessible. */
    @Override
    public List<String> slowSettings() {
        if (connections == null) {
            return List.of();
        }
        ServiceManager settings = connections.getServiceManager();
        int ping = settings.getConfig().getPingConnectionInterval();
        List<String> slow = new ArrayList<>();
        if (ping == 0 || ping > LONGEST_PING_MILLIS) {
            slow.add(
                    "pingConnectionInterval = " + ping
                            + " (ms), so a connection that the network drops silently is used for up to twice that time; set 1500");
        }
        // There is an old setting of a server and a new one of the client; each can turn it off.
        if (!settings.getConfig().isTcpNoDelay() || !settings.getCfg().isTcpNoDelay()) {
            slow.add("tcpNoDelay = false, so a call may wait 40 ms for the one before; set true");
        }
        return slow;
    }

    @Override
    public boolean areMastersDistinguishable() {
        return connections != null;
    }

    @Override
    public Object master(String key) {
        try {
            return connections == null ? ALL : master(entry(connections, key));
        } catch (RuntimeException e) {
            throw RedisFailure.of(RedissonFailure.of(e));
        }
    }

    @Override
    public List<Object> masters() {
        List<Object> all = connections == null
                ? List.of()
                : connections.getEntrySet().stream()
                        .map(RedissonTransport::master)
                        .distinct()
                        .toList();
        // Redisson ends the clients of former masters, and with them all connections.
        pipelines.keySet().removeIf(RedisClient::isShutdown);
        long now = TIME.nowMicros();
        if (now - movesForgottenMicros >= MOVES_COUNT_MICROS) {
            movesForgottenMicros = now;
            moved.clear();
        }
        return all.isEmpty() ? List.of(ALL) : all;
    }

    @Override
    public void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    @Override
    public CompletableFuture<Long> latenessMicros(long longestMicros) {
        // If the threads of the answers are not accessible, Netty's global one replaces them.
        return NettyThreads.latenessMicros(
                connections == null
                        ? List.of(GlobalEventExecutor.INSTANCE)
                        : connections.getServiceManager().getGroup(),
                timer,
                longestMicros);
    }

    @Override
    public String name(Object master) {
        InetSocketAddress address = master instanceof RedisClient one ? one.getAddr() : null;
        return address == null ? "Redis" : "Redis at " + address.getHostString() + ":" + address.getPort();
    }

    @Override
    public void run(Object master, Command command, Command.Receiver receiver) {
        if (!(master instanceof RedisClient one) || !direct) {
            api.run(command, receiver);
            return;
        }
        try {
            pipeline(one).run(command, (reply, failure) -> received(command, receiver, reply, failure));
        } catch (LinkageError changed) {
            goWithoutPipelines(changed);
            run(master, command, receiver);
        }
    }

    private void received(
            Command command, Command.Receiver receiver, @Nullable List<Object> reply, @Nullable Throwable failure) {
        try {
            if (failure instanceof ErrorReply && failure.getCause() instanceof RedisMovedException to) {
                noteMove(to);
            }
            if (failure instanceof LinkageError changed) {
                goWithoutPipelines(changed);
            }
            // The server does not have the key any more, so nothing ran. Redisson knows how to follow it.
            if (failure != null && command.isAlone() && command.isWanted() && RedisFailure.hasCode(failure, "MOVED")) {
                api.run(command, receiver);
                return;
            }
        } catch (RuntimeException e) {
            LOG.debug("a key that has moved could not be followed", e);
        }
        receiver.accept(reply, failure);
    }

    private void goWithoutPipelines(LinkageError changed) {
        direct = false;
        LOG.warn(
                "RL-214 this version of Redisson has another low-level client, so commands take its slower way",
                changed);
    }

    @Override
    public boolean renew(Object master) {
        Pipeline pipeline = master instanceof RedisClient one ? pipelines.get(one) : null;
        if (pipeline != null) {
            pipeline.renew();
        }
        if (connections != null) {
            connections.getEntrySet().stream()
                    .filter(entry -> master(entry) == master)
                    .forEach(RedissonTransport::retireFree);
        }
        return true;
    }

    /** Closes those of the client's pool that are free, as if they had been idle for long: it makes others when it needs them. */
    private static void retireFree(MasterSlaveEntry entry) {
        try {
            ConnectionsHolder<RedisConnection> pool = entry.getEntry().getConnectionsHolder();
            List.copyOf(pool.getAllConnections()).stream()
                    .filter(one -> one.getUsage() == 0 && pool.remove(one))
                    .forEach(RedisConnection::closeIdleAsync);
        } catch (LinkageError changed) {
            LOG.debug("the connections of the client are not accessible", changed);
        }
    }

    @Override
    public void onLost(Object master, Runnable listener) {
        if (!direct || !(master instanceof RedisClient one)) {
            return;
        }
        try {
            pipeline(one).onLost = listener;
        } catch (LinkageError changed) {
            goWithoutPipelines(changed);
        }
    }

    private Pipeline pipeline(RedisClient master) {
        return pipelines.computeIfAbsent(master, client -> new Pipeline(client, timer));
    }

    @Override
    public void probe(Object master, Command command, Command.Receiver receiver) {
        Pipeline suspect = master instanceof RedisClient one ? pipelines.get(one) : null;
        Runnable closeIfSilent = suspect == null ? () -> {} : suspect.closeIfSilent();
        Command.Receiver looking = (reply, failure) -> {
            receiver.accept(reply, failure);
            if (failure == null || RedisFailure.isAnswer(failure)) {
                closeIfSilent.run();
            }
        };
        api.run(command, looking);
    }

    @Override
    public CompletableFuture<? extends List<?>> ask(String key, List<String> words) {
        return api.ask(key, words);
    }

    @Override
    public boolean isDirect() {
        return direct;
    }

    @Override
    public void close() {
        pipelines.values().forEach(Pipeline::close);
        if (ownsClient) {
            client.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
            NettyThreads.awaitEnd(SHUTDOWN_SECONDS);
        }
    }

    private @Nullable MasterSlaveEntry entry(ConnectionManager all, String key) {
        int slot = cluster ? all.calcSlot(key) : 0;
        MasterSlaveEntry now = moved.isEmpty() ? null : moved.get(slot);
        return now == null ? all.getEntry(slot) : now;
    }

    /** So that only the first call to a slot that has moved costs a second question. */
    private void noteMove(RedisMovedException to) {
        MasterSlaveEntry now = connections == null ? null : connections.getEntry(to.getUrl());
        if (cluster && now != null) {
            moved.put(to.getSlot(), now);
        }
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
