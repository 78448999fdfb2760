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
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
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
 * closed. Of the commands on a connection that closes, those that were written fail at once, and the others take the next connection, once. Thread-safe.
 */
final class Pipeline {
    /** An operator may flush the scripts repeatedly. */
    private static final int LOADS = 3;
    /** Longer than any timeout of connecting that is set; a client that was shut down may never answer. */
    private static final long LONGEST_OPENING_SECONDS = 30;
    /** The replies that are on their way arrive sooner, or too late. */
    private static final long RETIRED_SECONDS = 1;
    /** After another connection had an answer: replies of one server to two connections come within that time. */
    private static final long SILENT_MICROS = 20_000;
    /** The time between the two tasks that end such a wait. */
    private static final long READING_MICROS = 1_000;

    private static final RedisCommand<List<Object>> EVALSHA =
            new RedisCommand<>("EVALSHA", new ObjectListReplayDecoder<>());

    private final RedisClient client;
    private final ScheduledExecutorService timer;
    private volatile @Nullable RedisConnection open;
    /** Told when the connection closes by itself: because a ping had no answer, say. */
    volatile Runnable onLost = () -> {};
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
        Runnable onNext = () -> opened().whenComplete((connection, failure) -> {
            if (failure != null) {
                receiver.accept(null, failure);
            } else if (!command.isWanted()) {
                receiver.accept(null, givenUp());
            } else {
                write(connection, name, words, receiver, null);
            }
        });
        if (now == null || !now.isActive()) {
            onNext.run();
            return;
        }
        write(now, name, words, receiver, () -> {
            if (command.isWanted()) {
                onNext.run();
            } else {
                receiver.accept(null, givenUp());
            }
        });
    }

    private static ConnectionLost givenUp() {
        return new ConnectionLost("its callers gave up before there was a connection");
    }

    /** @param onNext what sends it by the next connection, if this one closes before it is written; null where it then fails */
    private <T> void write(
            RedisConnection to,
            RedisCommand<?> name,
            Object[] words,
            BiConsumer<@Nullable T, @Nullable Throwable> receiver,
            @Nullable Runnable onNext) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        answer.whenComplete((reply, failure) -> {
            if (failure != null && !(failure instanceof RedisException) && !(failure instanceof ConnectionLost)) {
                // No error reply: it can't be read, so what follows in the stream may be the reply to another command.
                to.closeAsync();
            }
            receiver.accept(reply, failure == null ? null : RedissonFailure.of(failure));
        });
        Runnable send = () -> {
            try {
                to.send(new CommandData<>(answer, StringCodec.INSTANCE, name, words))
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
    private static void failAll(Channel channel) {
        Queue<QueueCommandHolder> waiting =
                channel.attr(CommandsQueue.COMMANDS_QUEUE).get();
        ConnectionLost lost = new ConnectionLost();
        for (QueueCommandHolder one = waiting.poll(); one != null; one = waiting.poll()) {
            if (one.getChannelPromise().isSuccess()) {
                one.getCommand().tryFailure(lost);
            }
        }
    }

    /**
     * Returns a task that closes the connection if the oldest command without a reply still has none 20 ms later: the network may
     * have dropped it silently. The next command opens another one.
     */
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
        // On the thread that reads the replies, which reads between the two tasks: a thread that is late is no silence
        // of Redis.
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

    /** Closes the connection, if there is one; later commands fail. */
    synchronized void close() {
        closed = true;
        RedisConnection now = open;
        if (now != null) {
            now.closeAsync();
        }
    }
}
