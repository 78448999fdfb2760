package io.limiter.redis;

import io.limiter.BackendException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
    private static final long WARM_UP_SECONDS = 10;

    private final Supplier<RedissonClient> connect;
    private final boolean owned;
    private final Duration timeout;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread connector;
    private volatile @Nullable RScript scripts;
    private volatile @Nullable RedissonClient client;

    /**
     * Starts to connect.
     *
     * @param connect makes or gives the client
     * @param owned whether the client is ours to shut down
     * @param timeout how long Redisson waits for a reply
     */
    RedisLink(Supplier<RedissonClient> connect, boolean owned, Duration timeout) {
        this.connect = connect;
        this.owned = owned;
        this.timeout = timeout;
        this.connector = new Thread(this::connectUntilDone, "limiter-redis-connect");
        connector.setDaemon(true);
        connector.setContextClassLoader(RedisLink.class.getClassLoader());
        connector.start();
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        RedissonClient now = client;
        return now != null && now.getConfig().isClusterConfig();
    }

    /**
     * Runs a script, on the master that has its first key. Where Redis does not know the script, which proves that
     * nothing ran, it is loaded there and run again. Nothing else is ever sent twice: Redisson's own re-sending is off,
     * because a script that ran and whose reply was lost would count once more.
     */
    CompletableFuture<List<Object>> run(Script script, List<Object> keys, Object[] arguments) {
        RScript handle = scripts;
        if (handle == null) {
            return CompletableFuture.failedFuture(new BackendException(
                    closed.getCount() == 0 ? "the Redis backend is closed" : "Redis is not connected"));
        }
        try {
            return evalSha(handle, script, keys, arguments)
                    .exceptionallyCompose(failure -> RedisFailure.isNoScript(failure)
                            ? handle.scriptLoadAsync((String) keys.get(0), script.text())
                                    .toCompletableFuture()
                                    .thenCompose(sha -> evalSha(handle, script, keys, arguments))
                            : CompletableFuture.failedFuture(failure));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        scripts = null;
        connector.interrupt();
        RedissonClient own = client;
        if (owned && own != null) {
            own.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private static CompletableFuture<List<Object>> evalSha(
            RScript handle, Script script, List<Object> keys, Object[] arguments) {
        return handle.<List<Object>>evalShaAsync(
                        RScript.Mode.READ_WRITE, script.sha(), RScript.ReturnType.LIST, keys, arguments)
                .toCompletableFuture();
    }

    private void connectUntilDone() {
        long pause = FIRST_PAUSE_MILLIS;
        boolean warned = false;
        while (closed.getCount() > 0) {
            try {
                connectOnce();
                LOG.info("connected to Redis");
                connected.countDown();
                return;
            } catch (Exception e) {
                if (e instanceof InterruptedException || closed.getCount() == 0) {
                    return;
                }
                if (!warned) {
                    warned = true;
                    LOG.warn(
                            "no connection to Redis yet ({}); the failure modes answer, and it is tried again until"
                                    + " there is one",
                            RedisFailure.of(e).getMessage());
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
        if (closed.getCount() == 0) {
            close();
            throw new InterruptedException("closed while connecting");
        }
        RScript patient = made.getScript(options(Duration.ofSeconds(WARM_UP_SECONDS)));
        for (Script script : Script.all()) {
            patient.scriptLoadAsync(script.text()).toCompletableFuture().get(WARM_UP_SECONDS, TimeUnit.SECONDS);
        }
        RScript handle = made.getScript(options(timeout));
        // The first call of a script costs class loading on this side; no caller's deadline shall pay for it.
        WarmUp.run(patient);
        if (closed.getCount() > 0) {
            scripts = handle;
        }
    }

    private static OptionalOptions options(Duration timeout) {
        return OptionalOptions.defaults()
                .codec(StringCodec.INSTANCE)
                .retryAttempts(0)
                .timeout(timeout);
    }
}
