package io.limiter.redis;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.CommandsQueue;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.QueueCommandHolder;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.RedisCommands;
import org.redisson.client.protocol.decoder.ObjectListReplayDecoder;

/**
 * A connection to one master for commands of the limiter only, beside those of the client's pool. Redisson makes it as it makes
 * those: address, TLS, login, database, name and ping are the client's. Commands leave in one stream, and their replies come in
 * the same order; nothing is sent twice. It is opened by the first command, and again by the first one after it has
 * closed; commands on a connection that closes fail at once. Thread-safe.
 */
final class Pipeline {
    /** An operator may flush the scripts repeatedly. */
    private static final int LOADS = 3;
    /** Longer than any timeout of connecting that is set; a client that was shut down may never answer. */
    private static final long LONGEST_OPENING_SECONDS = 30;

    private static final RedisCommand<List<Object>> EVALSHA =
            new RedisCommand<>("EVALSHA", new ObjectListReplayDecoder<>());

    private final RedisClient client;
    private final ScheduledExecutorService timer;
    private volatile @Nullable RedisConnection open;
    /** Whether a reply has come, or a failure, since {@link #expectReply}. */
    private volatile boolean hasReplied;
    // Guarded by this.
    private @Nullable CompletableFuture<RedisConnection> opening;
    private boolean closed;

    /** @throws LinkageError if this version of Redisson has another low-level client */
    Pipeline(RedisClient client, ScheduledExecutorService timer) {
        this.client = client;
        this.timer = timer;
        // Needed when a connection closes; if it is missing, it is better known now.
        Objects.requireNonNull(CommandsQueue.COMMANDS_QUEUE, QueueCommandHolder.class::getName);
    }

    /** Runs a command. Where Redis does not know the script, so nothing ran, it is loaded and run again, if a caller still waits. */
    void run(Command command, Command.Receiver receiver) {
        run(command, receiver, LOADS);
    }

    private void run(Command command, Command.Receiver receiver, int loads) {
        List<Object> words =
                new ArrayList<>(2 + command.keys().size() + command.arguments().size());
        words.add(command.script().sha());
        words.add(Integer.toString(command.keys().size()));
        words.addAll(command.keys());
        words.addAll(command.arguments());
        this.<List<Object>>send(command, EVALSHA, words.toArray(), (reply, failure) -> {
            if (failure == null || loads == 0 || !RedisFailure.hasCode(failure, "NOSCRIPT") || !command.isWanted()) {
                receiver.accept(reply, failure);
                return;
            }
            Object[] script = {command.script().text()};
            this.<String>send(command, RedisCommands.SCRIPT_LOAD, script, (sha, notLoaded) -> {
                if (notLoaded == null && command.isWanted()) {
                    run(command, receiver, loads - 1);
                } else {
                    receiver.accept(null, notLoaded == null ? failure : notLoaded);
                }
            });
        });
    }

    private <T> void send(
            Command command,
            RedisCommand<?> name,
            Object[] words,
            BiConsumer<@Nullable T, @Nullable Throwable> receiver) {
        RedisConnection now = open;
        if (now != null && now.isActive()) {
            write(now, name, words, receiver);
            return;
        }
        opened().whenComplete((connection, failure) -> {
            if (failure != null) {
                receiver.accept(null, failure);
            } else if (!command.isWanted()) {
                receiver.accept(
                        null, new RedisConnectionException("its callers gave up before there was a connection"));
            } else {
                write(connection, name, words, receiver);
            }
        });
    }

    private <T> void write(
            RedisConnection to,
            RedisCommand<?> name,
            Object[] words,
            BiConsumer<@Nullable T, @Nullable Throwable> receiver) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        answer.whenComplete((reply, failure) -> {
            hasReplied = true;
            if (failure != null && !(failure instanceof RedisException)) {
                // No error reply: it can't be read, so what follows in the stream may be the reply to another command.
                to.closeAsync();
            }
            receiver.accept(reply, failure);
        });
        Runnable send = () -> {
            try {
                to.send(new CommandData<>(answer, StringCodec.INSTANCE, name, words))
                        .addListener(written -> {
                            if (!written.isSuccess()) {
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
        if (closed || client.isShutdown()) {
            return CompletableFuture.failedFuture(new RedisConnectionException("the connection is closed"));
        }
        CompletableFuture<RedisConnection> next = opening;
        if (next == null || next.isDone()) {
            // Those that wait for it come after the method that registers what ends their commands.
            CompletableFuture<RedisConnection> fresh =
                    client.connectAsync().toCompletableFuture().thenApply(this::opened);
            Future<?> end = timer.schedule(
                    () -> fresh.completeExceptionally(new RedisConnectionException("no connection in time")),
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
                throw new RedisConnectionException("the connection is closed");
            }
            return now;
        }
        Channel channel = connection.getChannel();
        channel.closeFuture().addListener(ended -> {
            // Otherwise Redisson would open it again, whether it is needed or not.
            connection.closeAsync();
            failAll(channel);
        });
        open = connection;
        return connection;
    }

    /** All that a connection loses when it closes is lost at once: for a failure of that kind true once, for others always. */
    static boolean isFirstOfLost(Throwable failure) {
        return !(failure instanceof LostException lost) || lost.isNew.compareAndSet(true, false);
    }

    private static final class LostException extends RedisConnectionException {
        private static final long serialVersionUID = 1L;

        private final transient AtomicBoolean isNew = new AtomicBoolean(true);

        LostException() {
            super("the connection was closed before the reply");
        }
    }

    /** Redisson fails the commands of a closed channel that were not written; the others would wait for their deadline. */
    private static void failAll(Channel channel) {
        Queue<QueueCommandHolder> waiting =
                channel.attr(CommandsQueue.COMMANDS_QUEUE).get();
        LostException lost = new LostException();
        for (QueueCommandHolder one = waiting.poll(); one != null; one = waiting.poll()) {
            one.getCommand().tryFailure(lost);
        }
    }

    /** Begins to look whether replies come. */
    void expectReply() {
        hasReplied = false;
    }

    /** Closes the connection if no reply has come since then: the network may have dropped it silently. The next command opens another one. */
    void closeIfSilent() {
        RedisConnection now = open;
        if (!hasReplied && now != null) {
            now.closeAsync();
        }
    }

    /** Closes the connection, if there is one; later commands fail. */
    synchronized void close() {
        closed = true;
        RedisConnection now = open;
        if (now != null) {
            now.closeAsync();
        }
    }
}
