package io.limiter.redis;

import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
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

    private static final RedisCommand<List<Object>> EVALSHA =
            new RedisCommand<>("EVALSHA", new ObjectListReplayDecoder<>());

    final RedisClient client;
    private volatile @Nullable RedisConnection open;
    /** Guarded by this. */
    private @Nullable CompletableFuture<RedisConnection> opening;

    private boolean closed;

    Pipeline(RedisClient client) {
        this.client = client;
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
        this.<List<Object>>send(EVALSHA, words.toArray(), (reply, failure) -> {
            if (failure == null || loads == 0 || !RedisFailure.hasCode(failure, "NOSCRIPT") || !command.isWanted()) {
                receiver.accept(reply, failure);
                return;
            }
            this.<String>send(
                    RedisCommands.SCRIPT_LOAD, new Object[] {command.script().text()}, (sha, notLoaded) -> {
                        if (notLoaded == null && command.isWanted()) {
                            run(command, receiver, loads - 1);
                        } else {
                            receiver.accept(null, notLoaded == null ? failure : notLoaded);
                        }
                    });
        });
    }

    private <T> void send(RedisCommand<?> name, Object[] words, BiConsumer<@Nullable T, @Nullable Throwable> receiver) {
        RedisConnection now = open;
        if (now != null && now.isActive()) {
            write(now, name, words, receiver);
            return;
        }
        opened().whenComplete((connection, failure) -> {
            if (failure == null) {
                write(connection, name, words, receiver);
            } else {
                receiver.accept(null, failure);
            }
        });
    }

    private static <T> void write(
            RedisConnection to,
            RedisCommand<?> name,
            Object[] words,
            BiConsumer<@Nullable T, @Nullable Throwable> receiver) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        answer.whenComplete(receiver);
        to.send(new CommandData<>(answer, StringCodec.INSTANCE, name, words)).addListener(written -> {
            if (!written.isSuccess()) {
                answer.completeExceptionally(written.cause());
            }
        });
    }

    private synchronized CompletableFuture<RedisConnection> opened() {
        RedisConnection now = open;
        if (now != null && now.isActive()) {
            return CompletableFuture.completedFuture(now);
        }
        CompletableFuture<RedisConnection> next = opening;
        if (next == null) {
            next = client.connectAsync().toCompletableFuture();
            opening = next;
            next.whenComplete(this::opened);
        }
        return next;
    }

    private synchronized void opened(@Nullable RedisConnection connection, @Nullable Throwable failure) {
        opening = null;
        if (connection == null) {
            return;
        }
        if (closed) {
            connection.closeAsync();
            return;
        }
        Channel channel = connection.getChannel();
        channel.closeFuture().addListener(ended -> {
            // Otherwise Redisson would open it again, whether it is needed or not.
            connection.closeAsync();
            failAll(channel);
        });
        open = connection;
    }

    /** Redisson fails the commands of a closed channel that were not written; the others would wait for their deadline. */
    private static void failAll(Channel channel) {
        Queue<QueueCommandHolder> waiting =
                channel.attr(CommandsQueue.COMMANDS_QUEUE).get();
        for (QueueCommandHolder one = waiting.poll(); one != null; one = waiting.poll()) {
            one.getCommand().tryFailure(new RedisConnectionException("the connection was closed before the reply"));
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
