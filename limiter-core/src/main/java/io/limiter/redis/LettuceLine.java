package io.limiter.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to one server, which is opened by the first command, and again by the first one after it has closed: the client does
 * not reconnect by itself, because it would then send again what had no reply. Commands on a connection that closes fail at once.
 * Thread-safe.
 */
final class LettuceLine {
    /** The replies that are on their way arrive sooner, or too late. */
    private static final long RETIRED_SECONDS = 1;

    /** For what tells the login. */
    private static final long LOGIN_SECONDS = 10;

    /** An open connection, with what it fails all commands with that it loses. */
    private record Open(StatefulRedisConnection<String, String> connection, ConnectionLost lost) {}

    private final RedisClient client;
    final RedisURI uri;
    private final ScheduledExecutorService timer;
    private final Executor writer;
    private final BooleanSupplier isClosed;
    /** Called when the connection closes by itself. */
    volatile Runnable onLost = () -> {};

    // Guarded by this.
    private @Nullable CompletableFuture<Open> open;

    /**
     * @param writer where commands are handed to the client
     * @param isClosed whether the client has ended, which does not close what is opened just then
     */
    LettuceLine(
            RedisClient client,
            RedisURI uri,
            ScheduledExecutorService timer,
            Executor writer,
            BooleanSupplier isClosed) {
        this.client = client;
        this.uri = uri;
        this.timer = timer;
        this.writer = writer;
        this.isClosed = isClosed;
    }

    /**
     * Sends a command, at most once.
     *
     * @param before a command whose reply nobody needs, sent just before it; null for none
     * @param isWanted whether it is still to be sent when there is a connection
     */
    void send(@Nullable List<?> before, List<?> words, BooleanSupplier isWanted, Command.Receiver receiver) {
        writer.execute(() -> opened().whenComplete((to, failure) -> {
            if (failure != null) {
                receiver.accept(null, ErrorReply.of(failure, LettuceLine::refusal));
            } else if (!isWanted.getAsBoolean()) {
                receiver.accept(null, new ConnectionLost("its callers gave up before there was a connection"));
            } else {
                if (before != null) {
                    to.connection.dispatch(new LettuceCommand(before, (reply, failed) -> {}));
                }
                to.connection.dispatch(new LettuceCommand(words, (reply, failed) -> {
                    boolean isReply = failed == null || failed instanceof ErrorReply;
                    if (!isReply) {
                        // What follows in the stream may be the reply to another command.
                        drop(to);
                    }
                    receiver.accept(reply, isReply ? failed : to.lost);
                }));
            }
        }));
    }

    private synchronized CompletableFuture<Open> opened() {
        CompletableFuture<Open> now = open;
        if (now == null || now.isCompletedExceptionally()) {
            // Also what it throws fails the call: the application may have ended its threads.
            now = CompletableFuture.completedFuture(uri)
                    .thenCompose(LettuceLine::withLogin)
                    .thenCompose(to -> client.connectAsync(StringCodec.UTF8, to))
                    .thenApply(this::opened);
            open = now;
        }
        return now;
    }

    /** With the login of now: the client would wait for it on the caller's thread. */
    private static CompletableFuture<RedisURI> withLogin(RedisURI uri) {
        return uri.getCredentialsProvider()
                .resolveCredentials()
                .toFuture()
                .orTimeout(LOGIN_SECONDS, TimeUnit.SECONDS)
                .thenApply(login -> {
                    RedisURI now = LettuceClients.copy(uri);
                    now.setCredentialsProvider(RedisCredentialsProvider.from(() -> login));
                    return now;
                });
    }

    private Open opened(StatefulRedisConnection<String, String> connection) {
        if (isClosed.getAsBoolean()) {
            connection.closeAsync();
            throw new ConnectionLost("it was opened after the end");
        }
        Open fresh = new Open(connection, new ConnectionLost("the connection was closed before the reply"));
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> same) {
                // One that was closed here is in no use any more; the client warns of a second time.
                if (!same.isClosed()) {
                    drop(fresh);
                }
            }
        });
        return fresh;
    }

    /** Closes it, because it is of no use, unless another one has replaced it. */
    private void drop(Open former) {
        synchronized (this) {
            if (open == null || open.isCompletedExceptionally() || open.getNow(null) != former) {
                return;
            }
            open = null;
        }
        former.connection.closeAsync();
        onLost.run();
    }

    /** Later commands open another connection; this one has a moment for what is on its way. */
    synchronized void retire() {
        CompletableFuture<Open> former = open;
        open = null;
        if (former != null) {
            former.thenAccept(last -> timer.schedule(last.connection::closeAsync, RETIRED_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** What a server replies that takes no connection, or not this login. */
    private static @Nullable String refusal(Throwable cause) {
        return cause instanceof RedisCommandExecutionException ? cause.getMessage() : null;
    }
}
