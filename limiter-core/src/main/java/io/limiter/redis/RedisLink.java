package io.limiter.redis;

import io.limiter.BackendException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to Redis. Connects on a thread of its own, again and again until it succeeds, so that no caller ever waits for
 * a connection; once connected, Redisson keeps it up. Thread-safe.
 */
final class RedisLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RedisBackend.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;
    private static final Duration WARM_UP = Duration.ofSeconds(10);
    private static final int LOADS = 3;

    private final String name;
    private final Supplier<RedissonClient> connect;
    private final boolean owned;
    private final List<Call> warmUp;
    private final Duration timeout;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread connector;
    private volatile @Nullable RScript scripts;
    private volatile @Nullable RedissonClient client;

    /**
     * Starts to connect.
     *
     * @param name how messages call this Redis
     * @param connect makes or gives the client
     * @param owned whether the client is ours to shut down
     * @param warmUp what to run before the first caller
     * @param timeout how long Redisson waits for a reply
     */
    RedisLink(String name, Supplier<RedissonClient> connect, boolean owned, List<Call> warmUp, Duration timeout) {
        this.name = name;
        this.warmUp = warmUp;
        this.connect = connect;
        this.owned = owned;
        this.timeout = timeout;
        this.connector = new Thread(this::connectUntilDone, "limiter-redis-connect");
        connector.setDaemon(true);
        connector.setContextClassLoader(RedisLink.class.getClassLoader());
        connector.start();
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS) && !isClosed();
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        RedissonClient now = client;
        return now != null && now.getConfig().isClusterConfig();
    }

    /**
     * Runs a script, on the master that has its first key. Where Redis does not know the script, which proves that
     * nothing ran, it is loaded there and run again, unless nobody waits any more. Nothing else is ever sent twice:
     * Redisson's own re-sending is off, because a script that ran and whose reply was lost would count once more.
     *
     * @param abandoned whether nobody waits for the answer any more
     */
    CompletableFuture<List<Object>> run(
            Script script, List<Object> keys, Object[] arguments, BooleanSupplier abandoned) {
        RScript handle = scripts;
        if (handle == null) {
            return CompletableFuture.failedFuture(
                    new BackendException(isClosed() ? "the Redis backend is closed" : "Redis is not connected"));
        }
        return run(handle, new Run(script, keys, arguments, abandoned), LOADS);
    }

    @Override
    public void close() {
        closed.countDown();
        scripts = null;
        connected.countDown();
        connector.interrupt();
        RedissonClient own = client;
        if (owned && own != null) {
            own.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private record Run(Script script, List<Object> keys, Object[] arguments, BooleanSupplier abandoned) {}

    /** Runs it; loads the script at most so many times, for somebody may flush the scripts again and again. */
    private static CompletableFuture<List<Object>> run(RScript handle, Run run, int loads) {
        CompletableFuture<List<Object>> reply;
        try {
            reply = handle.<List<Object>>evalShaAsync(
                            RScript.Mode.READ_WRITE, run.script.sha(), RScript.ReturnType.LIST, run.keys, run.arguments)
                    .toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return reply.exceptionallyCompose(failure -> {
            if (loads == 0 || !RedisFailure.isNoScript(failure) || run.abandoned.getAsBoolean()) {
                return CompletableFuture.failedFuture(failure);
            }
            return handle.scriptLoadAsync((String) run.keys.get(0), run.script.text())
                    .toCompletableFuture()
                    .thenCompose(sha -> run.abandoned.getAsBoolean()
                            ? CompletableFuture.failedFuture(failure)
                            : run(handle, run, loads - 1));
        });
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void connectUntilDone() {
        long pause = FIRST_PAUSE_MILLIS;
        String told = "";
        while (!isClosed()) {
            try {
                connectOnce();
                return;
            } catch (InterruptedException e) {
                return;
            } catch (LinkageError e) {
                LOG.error("this Redisson can't be used; the limiter needs 4.7.0 or newer", e);
                return;
            } catch (Exception e) {
                String reason = String.valueOf(RedisFailure.of(e).getMessage());
                if (!isClosed() && !reason.equals(told)) {
                    told = reason;
                    LOG.warn(
                            "no connection to {} yet ({}); the failure modes answer, and it is tried again until there is"
                                    + " one",
                            name,
                            reason);
                }
                LOG.debug("the attempt to connect failed", e);
            }
            try {
                if (closed.await(pause, TimeUnit.MILLISECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
            pause = Math.min(LONGEST_PAUSE_MILLIS, pause * 2);
        }
    }

    private void connectOnce() throws Exception {
        RedissonClient made = client;
        if (made == null) {
            made = connect.get();
            client = made;
        }
        if (isClosed()) {
            close();
            throw new InterruptedException("closed while connecting");
        }
        warmUp(made.getScript(options(WARM_UP)));
        scripts = made.getScript(options(timeout));
        if (isClosed()) {
            scripts = null;
            return;
        }
        LOG.info("connected to {}", name);
        connected.countDown();
    }

    /**
     * Loads the scripts and runs each once: no caller's deadline shall pay for the first time. What Redis refuses here (a
     * user who may not load scripts, say) is told and is no reason to have no connection.
     */
    private void warmUp(RScript patient) throws Exception {
        for (Call call : warmUp) {
            try {
                call.outcomes(run(patient, new Run(call.script(), call.keys(), call.arguments(null), () -> false), 1)
                        .get(WARM_UP.toSeconds(), TimeUnit.SECONDS));
            } catch (ExecutionException | BackendException e) {
                if (!RedisFailure.isReply(e)) {
                    throw e;
                }
                LOG.warn(
                        "{} refuses to run script {}: {}; see what the user of the limiter may do",
                        name,
                        call.script().name(),
                        RedisFailure.of(e).getMessage());
            }
        }
    }

    private static OptionalOptions options(Duration timeout) {
        return OptionalOptions.defaults()
                .codec(StringCodec.INSTANCE)
                .retryAttempts(0)
                .timeout(timeout);
    }
}
