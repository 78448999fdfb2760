package io.limiter.redis;

import io.limiter.TimeSource;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisException;
import org.redisson.client.RedisMovedException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommandHolder;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.decoder.ObjectListReplayDecoder;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.ConnectionsHolder;
import org.redisson.connection.MasterSlaveEntry;
import org.redisson.connection.ServiceManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the limiter uses of Redisson that is not its public API; everything else is in {@link RedissonTransport}. The public API shows no
 * master of a slot, so one dead master would open the breaker of all; its commands share the connections of the application's, with a pool
 * and a queue for it (measured in {@code design/decisions/redis.md}); it has no way to retire a connection, and hides the threads on
 * which answers arrive. Thread-safe.
 *
 * <p>Who holds what: here are the masters, as Redisson and the servers name them, and a {@link Pipeline} for each, the limiter's own
 * connection.
 */
final class RedissonMasters {
    private static final Logger LOG = LoggerFactory.getLogger(RedissonMasters.class);
    private static final TimeSource TIME = TimeSource.system();
    /** As long as Redisson by default waits before it asks a cluster for its masters again. */
    private static final long MOVES_COUNT_MICROS = 5_000_000;
    /** Longer than any timeout of connecting that is set; a client that was shut down may never answer. */
    private static final long LONGEST_OPENING_SECONDS = 30;
    /** The replies that are on their way arrive sooner, or too late. */
    private static final long RETIRED_SECONDS = 1;
    /** After another connection had an answer: replies of one server to two connections come within that time. */
    private static final long SILENT_MICROS = 20_000;
    /** The time between the two tasks that end such a wait. */
    private static final long READING_MICROS = 1_000;
    /** With these pings a dead connection is replaced within ten seconds. */
    private static final int LONGEST_PING_MILLIS = 5_000;
    /** A name mapper of the client changes it, and the keys, as only the public API does. */
    private static final String PROBED_NAME = "limiter:{a}";

    private static final RedisCommand<List<Object>> EVALSHA =
            new RedisCommand<>("EVALSHA", new ObjectListReplayDecoder<>());

    private final ConnectionManager connections;
    private final ScheduledExecutorService timer;
    private final boolean cluster;
    /** Whether commands go by connections of the limiter's own: they can be opened, and keys are as they are written. */
    private volatile boolean direct;
    /** Masters of slots that have moved, as servers said since Redisson last asked for all of them. */
    private final Map<Integer, MasterSlaveEntry> moved = new ConcurrentHashMap<>();

    private final Map<RedisClient, Pipeline> pipelines = new ConcurrentHashMap<>();
    private volatile long movesForgottenMicros;

    private RedissonMasters(ConnectionManager connections, boolean cluster, ScheduledExecutorService timer) {
        this.connections = connections;
        this.cluster = cluster;
        this.timer = timer;
        this.direct = PROBED_NAME.equals(
                connections.getServiceManager().getNameMapper().map(PROBED_NAME));
        // Needed when a connection closes.
        Objects.requireNonNull(CommandsQueue.COMMANDS_QUEUE, QueueCommandHolder.class::getName);
    }

    /** Null if they are not accessible: the client is a wrapper, or of an unknown version. */
    static @Nullable RedissonMasters of(RedissonClient client, ScheduledExecutorService timer) {
        try {
            return client instanceof Redisson redisson
                    ? new RedissonMasters(
                            redisson.getCommandExecutor().getConnectionManager(),
                            client.getConfig().isClusterConfig(),
                            timer)
                    : null;
        } catch (LinkageError unknown) {
            warn(unknown);
            return null;
        }
    }

    private static void warn(LinkageError unknown) {
        LOG.warn(
                "RL-214 this version of Redisson has another low-level client, so commands take its slower way",
                unknown);
    }

    /** Whether {@link #run} can be used. Its first commands are those of the self-test, at startup, so what they find out counts. */
    boolean isDirect() {
        return direct;
    }

    /** The master that has the key; null while Redisson knows none. */
    @Nullable
    RedisClient master(String key) {
        int slot = cluster ? connections.calcSlot(key) : 0;
        MasterSlaveEntry now = moved.isEmpty() ? null : moved.get(slot);
        return master(now == null ? connections.getEntry(slot) : now);
    }

    private static @Nullable RedisClient master(@Nullable MasterSlaveEntry entry) {
        return entry == null ? null : entry.getClient();
    }

    List<RedisClient> masters() {
        // Redisson ends the clients of former masters, and with them all connections.
        pipelines.keySet().removeIf(RedisClient::isShutdown);
        long now = TIME.nowMicros();
        if (now - movesForgottenMicros >= MOVES_COUNT_MICROS) {
            movesForgottenMicros = now;
            moved.clear();
        }
        return connections.getEntrySet().stream()
                .map(RedissonMasters::master)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    static String name(Object master) {
        InetSocketAddress address = ((RedisClient) master).getAddr();
        return address == null ? "Redis" : "Redis at " + address.getHostString() + ":" + address.getPort();
    }

    /** Those that impair the limiter, each with what to write. The public API has them only as YAML, which takes long to make. */
    List<String> slowSettings() {
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

    /** The threads on which answers arrive. */
    Iterable<EventExecutor> threads() {
        return connections.getServiceManager().getGroup();
    }

    /** Sends a command by the limiter's own connection to a master, at most once. */
    void run(Object master, Command command, Command.Receiver receiver) {
        Command.Receiver noting = (reply, failure) -> {
            if (failure instanceof ErrorReply && failure.getCause() instanceof RedisMovedException to) {
                noteMove(to);
            } else if (failure instanceof LinkageError unknown) {
                direct = false;
                warn(unknown);
            }
            receiver.accept(reply, failure);
        };
        try {
            pipeline(master).run(command, noting);
        } catch (LinkageError unknown) {
            noting.accept(null, unknown);
        }
    }

    /** So that only the first call to a slot that has moved costs a second question. */
    private void noteMove(RedisMovedException to) {
        MasterSlaveEntry now = connections.getEntry(to.getUrl());
        if (cluster && now != null) {
            moved.put(to.getSlot(), now);
        }
    }

    /** Calls this whenever the limiter's own connection to a master closes by itself: because a ping had no answer, say. */
    void onLost(Object master, Runnable listener) {
        pipeline(master).onLost = listener;
    }

    private Pipeline pipeline(Object master) {
        return pipelines.computeIfAbsent((RedisClient) master, Pipeline::new);
    }

    /**
     * Returns a task that closes the limiter's own connection to a master if its oldest command without a reply still has none 20 ms later:
     * the network may have dropped it silently. The next command opens another one.
     */
    Runnable closeIfSilent(Object master) {
        Pipeline suspect = pipelines.get(master);
        return suspect == null ? () -> {} : suspect.closeIfSilent();
    }

    /** Replaces the connections to a master. Those of the client's pool are closed if they are free, as if they had been idle for long. */
    void renew(Object master) {
        Pipeline pipeline = pipelines.get(master);
        if (pipeline != null) {
            pipeline.renew();
        }
        try {
            connections.getEntrySet().stream()
                    .filter(entry -> master(entry) == master)
                    .map(entry -> entry.getEntry().getConnectionsHolder())
                    .forEach(RedissonMasters::retireFree);
        } catch (LinkageError unknown) {
            LOG.debug("the connections of the client are not accessible", unknown);
        }
    }

    private static void retireFree(ConnectionsHolder<RedisConnection> pool) {
        List.copyOf(pool.getAllConnections()).stream()
                .filter(one -> one.getUsage() == 0 && pool.remove(one))
                .forEach(RedisConnection::closeIdleAsync);
    }

    /** Closes the limiter's own connections; later commands fail. */
    void close() {
        pipelines.values().forEach(Pipeline::close);
    }

    /**
     * A connection to one master for commands of the limiter only, beside those of the client's pool. Redisson makes it as it makes
     * those: address, TLS, login, database, name and ping are the client's. Commands leave in one stream, and their replies come in
     * the same order; nothing is sent twice. It is opened by the first command, and again by the first one after it has
     * closed. Of the commands on a connection that closes, those that were written fail at once, and the others take the next connection,
     * once. Thread-safe.
     */
    private final class Pipeline {
        private final RedisClient client;
        private volatile @Nullable RedisConnection open;
        volatile Runnable onLost = () -> {};
        // Guarded by this.
        private @Nullable CompletableFuture<RedisConnection> opening;
        private boolean closed;

        Pipeline(RedisClient client) {
            this.client = client;
        }

        void run(Command command, Command.Receiver receiver) {
            List<Object> all = command.words();
            // Redisson writes the name of the command itself.
            Object[] words = all.subList(1, all.size()).toArray();
            RedisConnection now = open;
            if (now == null || !now.isActive()) {
                runOnNext(command, words, receiver);
                return;
            }
            write(now, words, receiver, () -> runOnNext(command, words, receiver));
        }

        private void runOnNext(Command command, Object[] words, Command.Receiver receiver) {
            opened().whenComplete((connection, failure) -> {
                if (failure != null) {
                    receiver.accept(null, failure);
                } else if (!command.isWanted()) {
                    receiver.accept(null, new ConnectionLost("its callers gave up before there was a connection"));
                } else {
                    write(connection, words, receiver, null);
                }
            });
        }

        /** @param onNext what sends it by the next connection, if this one closes before it is written; null where it then fails */
        private void write(RedisConnection to, Object[] words, Command.Receiver receiver, @Nullable Runnable onNext) {
            CompletableFuture<List<Object>> answer = new CompletableFuture<>();
            answer.whenComplete((reply, failure) -> {
                if (failure != null && !(failure instanceof RedisException) && !(failure instanceof ConnectionLost)) {
                    // No error reply: it can't be read, so what follows in the stream may be the reply to another
                    // command.
                    to.closeAsync();
                }
                receiver.accept(reply, failure == null ? null : RedissonFailure.of(failure));
            });
            Runnable send = () -> {
                try {
                    to.send(new CommandData<>(answer, StringCodec.INSTANCE, EVALSHA, words))
                            .addListener(written -> {
                                if (!written.isSuccess() && onNext != null && !to.isActive()) {
                                    onNext.run();
                                } else if (!written.isSuccess()) {
                                    answer.completeExceptionally(written.cause());
                                }
                            });
                } catch (Throwable notSent) {
                    answer.completeExceptionally(notSent);
                }
            };
            EventLoop loop = to.getChannel().eventLoop();
            if (loop.inEventLoop()) {
                // In its turn: what other threads have sent waits for the end of what the loop does now.
                loop.execute(send);
            } else {
                send.run();
            }
        }

        private synchronized CompletableFuture<RedisConnection> opened() {
            RedisConnection now = open;
            if (now != null && now.isActive()) {
                return CompletableFuture.completedFuture(now);
            }
            if (isClosed()) {
                return CompletableFuture.failedFuture(new ConnectionLost("the connection is closed"));
            }
            CompletableFuture<RedisConnection> next = opening;
            if (next == null || next.isDone()) {
                // Those that wait for it come after the method that registers what ends their commands.
                CompletableFuture<RedisConnection> fresh =
                        client.connectAsync().toCompletableFuture().thenApply(this::opened);
                Future<?> end = timer.schedule(
                        () -> fresh.completeExceptionally(new ConnectionLost("no connection in time")),
                        LONGEST_OPENING_SECONDS,
                        TimeUnit.SECONDS);
                fresh.whenComplete((connection, failure) -> end.cancel(false));
                opening = fresh;
                next = fresh;
            }
            return next;
        }

        private synchronized RedisConnection opened(RedisConnection connection) {
            RedisConnection now = open;
            if (closed || (now != null && now.isActive())) {
                connection.closeAsync();
                if (closed || now == null) {
                    throw new ConnectionLost("the connection is closed");
                }
                return now;
            }
            Channel channel = connection.getChannel();
            channel.closeFuture().addListener(ended -> {
                // Otherwise Redisson would open it again, whether it is needed or not.
                connection.closeAsync();
                failAll(channel);
                if (open == connection && !isClosed()) {
                    onLost.run();
                }
            });
            open = connection;
            return connection;
        }

        /** Fails the commands that were written: they would wait for their deadline. Netty fails the writes of the others. */
        private void failAll(Channel channel) {
            Queue<QueueCommandHolder> waiting =
                    channel.attr(CommandsQueue.COMMANDS_QUEUE).get();
            ConnectionLost lost = new ConnectionLost("the connection was closed before the reply");
            for (QueueCommandHolder one = waiting.poll(); one != null; one = waiting.poll()) {
                if (one.getChannelPromise().isSuccess()) {
                    one.getCommand().tryFailure(lost);
                }
            }
        }

        Runnable closeIfSilent() {
            RedisConnection now = open;
            Queue<QueueCommandHolder> waiting = now == null
                    ? null
                    : now.getChannel().attr(CommandsQueue.COMMANDS_QUEUE).get();
            QueueCommandHolder first = waiting == null ? null : waiting.peek();
            if (now == null || waiting == null || first == null) {
                return () -> {};
            }
            Runnable close = () -> {
                if (waiting.peek() == first) {
                    now.closeAsync();
                }
            };
            // On the thread that reads the replies, which reads between the two tasks: a thread that is late is no
            // silence of Redis.
            EventLoop loop = now.getChannel().eventLoop();
            return () -> loop.schedule(
                    () -> loop.schedule(close, READING_MICROS, TimeUnit.MICROSECONDS),
                    SILENT_MICROS,
                    TimeUnit.MICROSECONDS);
        }

        /** Later commands take another connection; this one has a moment for what is on its way. */
        synchronized void renew() {
            RedisConnection former = open;
            open = null;
            if (former != null) {
                former.getChannel().eventLoop().schedule(former::closeAsync, RETIRED_SECONDS, TimeUnit.SECONDS);
            }
        }

        private synchronized boolean isClosed() {
            return closed || client.isShutdown();
        }

        synchronized void close() {
            closed = true;
            RedisConnection now = open;
            if (now != null) {
                now.closeAsync();
            }
        }
    }
}
