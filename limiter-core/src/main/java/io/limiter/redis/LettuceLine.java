package io.limiter.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.limiter.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to one server, which is opened by the first command, and again by the first one after it has closed: the client does
 * not reconnect by itself, because it would then send again what had no reply. Of the commands on a connection that closes, those that
 * were written fail at once, and the others take the next connection, once. Thread-safe.
 */
final class LettuceLine {
    private static final TimeSource TIME = TimeSource.system();
    /** Longer than a busy Redis or a starved JVM takes; twice this time or later a connection without an answer is closed. */
    private static final long LONGEST_SILENCE_MICROS = 1_500_000;
    /** The replies that are on their way arrive sooner, or too late. */
    private static final long RETIRED_SECONDS = 1;

    private static final long NO_PING = 0;

    /** An open connection. */
    private static final class Open {
        final StatefulRedisConnection<String, String> connection;
        final ConnectionLost lost = new ConnectionLost();
        /** When it was sent a ping that has no answer yet. */
        volatile long pingMicros = NO_PING;

        Open(StatefulRedisConnection<String, String> connection) {
            this.connection = connection;
        }
    }

    final RedisURI uri;
    private final RedisClient client;
    private final ScheduledExecutorService timer;
    private final Executor writer;
    /** Told when the connection closes by itself. */
    volatile Runnable onLost = () -> {};

    private volatile @Nullable Open open;
    // Guarded by this.
    private @Nullable CompletableFuture<Open> opening;
    private boolean closed;

    /** @param writer where commands are handed to the client */
    LettuceLine(RedisClient client, RedisURI uri, ScheduledExecutorService timer, Executor writer) {
        this.client = client;
        this.uri = uri;
        this.timer = timer;
        this.writer = writer;
    }

    /**
     * Sends a command, at most once.
     *
     * @param before a command whose reply nobody needs, sent just before it; null for none
     * @param isWanted whether it is still to be sent when a connection has opened
     */
    void send(@Nullable List<?> before, List<?> words, BooleanSupplier isWanted, Command.Receiver receiver) {
        Runnable onNext = () -> {
            if (!isWanted.getAsBoolean()) {
                receiver.accept(null, new ConnectionLost("its callers gave up before there was a connection"));
                return;
            }
            opened().whenComplete((next, failure) -> {
                if (failure != null) {
                    receiver.accept(null, reason(failure));
                } else {
                    write(next, before, words, receiver, null);
                }
            });
        };
        Open now = open;
        if (now == null) {
            onNext.run();
        } else {
            write(now, before, words, receiver, onNext);
        }
    }

    /** @param onNext what sends it by the next connection, if this one closes before it is written; null where it then fails */
    private void write(
            Open to, @Nullable List<?> before, List<?> words, Command.Receiver receiver, @Nullable Runnable onNext) {
        LettuceCommand command = new LettuceCommand(words, (ended, reply, failure) -> {
            if (failure == null || failure instanceof ErrorReply) {
                receiver.accept(reply, failure);
                return;
            }
            // No reply: what follows in the stream may be the reply to another command.
            drop(to);
            if (!ended.isWritten() && onNext != null) {
                onNext.run();
            } else {
                receiver.accept(null, to.lost);
            }
        });
        writer.execute(() -> {
            try {
                if (before != null) {
                    to.connection.dispatch(new LettuceCommand(before, (ended, reply, failure) -> {}));
                }
                to.connection.dispatch(command);
            } catch (RuntimeException notSent) {
                command.completeExceptionally(notSent);
            }
        });
    }

    private synchronized CompletableFuture<Open> opened() {
        Open now = open;
        if (now != null) {
            return CompletableFuture.completedFuture(now);
        }
        if (closed) {
            return CompletableFuture.failedFuture(new ConnectionLost("the connection is closed"));
        }
        CompletableFuture<Open> next = opening;
        if (next == null || next.isDone()) {
            try {
                next = client.connectAsync(StringCodec.UTF8, uri)
                        .toCompletableFuture()
                        .thenApply(this::opened);
            } catch (RuntimeException unusable) {
                next = CompletableFuture.failedFuture(unusable);
            }
            opening = next;
        }
        return next;
    }

    private synchronized Open opened(StatefulRedisConnection<String, String> connection) {
        Open fresh = new Open(connection);
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
                drop(fresh);
            }
        });
        if (closed || !connection.isOpen()) {
            connection.closeAsync();
            throw new ConnectionLost("the connection is closed");
        }
        open = fresh;
        return fresh;
    }

    /** Closes it, because it is of no use. */
    private void drop(Open former) {
        synchronized (this) {
            if (open != former) {
                return;
            }
            open = null;
        }
        former.connection.closeAsync();
        onLost.run();
    }

    /** Asks for a sign of life, and closes a connection that has given none for long. */
    void ping() {
        Open now = open;
        long nowMicros = TIME.nowMicros();
        if (now == null) {
            return;
        }
        if (now.pingMicros == NO_PING) {
            now.pingMicros = nowMicros;
            write(now, null, List.of("PING"), (reply, failure) -> now.pingMicros = NO_PING, null);
        } else if (nowMicros - now.pingMicros > LONGEST_SILENCE_MICROS) {
            drop(now);
        }
    }

    /** Whether it is open, and has not answered its last ping. */
    boolean isSilent() {
        Open now = open;
        return now != null && now.pingMicros != NO_PING;
    }

    /** Later commands take another connection; this one has a moment for what is on its way. */
    void renew() {
        Open former;
        synchronized (this) {
            former = open;
            open = null;
        }
        if (former != null) {
            timer.schedule(former.connection::closeAsync, RETIRED_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Closes the connection, if there is one; later commands fail. */
    void close() {
        Open last;
        synchronized (this) {
            closed = true;
            last = open;
            open = null;
        }
        if (last != null) {
            last.connection.closeAsync();
        }
    }

    /** Why there is no connection, in the words of {@link Transport}. */
    private static Throwable reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof RedisCommandExecutionException)) {
            cause = cause.getCause();
        }
        String reply = cause.getMessage();
        return cause instanceof RedisCommandExecutionException && reply != null
                ? new ErrorReply(reply, failure)
                : failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
