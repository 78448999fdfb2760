package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The way to Redis. Connects on a thread of its own, again and again until it succeeds, so that no caller ever waits for a
 * connection; once connected, Redisson keeps it up, and that thread watches the masters. Thread-safe.
 */
final class RedisLink implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(RedisBackend.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    /** Between clients of Redisson that are made in vain: each makes threads anew and writes a line to the log. */
    private static final long LONGEST_PAUSE_OF_CLIENTS_MILLIS = 5_000;
    /** How often findings are looked at again, and masters that have gone are forgotten. */
    private static final long LOOK_AGAIN_MICROS = 5_000_000;

    private static final Duration LONGEST_JOIN = Duration.ofSeconds(2);

    private final String name;
    private final Supplier<RedissonClient> connect;
    private final Knock knock;
    private final boolean owned;
    private final RedisKeys keys;
    private final Duration deadline;
    private final Deadlines deadlines;
    private final TimeSource monotonic = TimeSource.system();
    private final CountDownLatch connected = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread watch;
    private volatile @Nullable RedissonClient client;
    /** Null while there is no connection. */
    private volatile @Nullable Lanes lanes;

    /**
     * Starts to connect.
     *
     * @param name how messages call this Redis
     * @param connect makes or gives the client
     * @param addresses where the client will look for Redis; none where that is not known
     * @param owned whether the client is ours to shut down
     * @param deadline within which the answer to a probe is in time
     */
    RedisLink(
            String name,
            Supplier<RedissonClient> connect,
            List<String> addresses,
            boolean owned,
            RedisKeys keys,
            Duration deadline,
            Deadlines deadlines) {
        this.name = name;
        this.connect = connect;
        this.knock = new Knock(addresses, monotonic);
        this.owned = owned;
        this.keys = keys;
        this.deadline = deadline;
        this.deadlines = deadlines;
        this.watch = new Thread(this::watch, "limiter-redis-watch");
        watch.setDaemon(true);
        watch.setContextClassLoader(RedisLink.class.getClassLoader());
        watch.start();
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS) && !isClosed();
    }

    /** What the self-tests of the masters found, as it stands now. */
    List<String> findings() {
        Lanes now = lanes;
        return now == null ? List.of() : now.findings();
    }

    BackendHealth health() {
        Lanes now = lanes;
        return now == null
                ? new BackendHealth(
                        Map.of(name, BackendHealth.State.AWAY),
                        List.of(String.valueOf(notConnected().getMessage())))
                : now.health();
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        Lanes now = lanes;
        return now != null && now.areCluster();
    }

    /** Runs a script for somebody who waits, on the master that has its first key; fails at once if that is silent. */
    CompletableFuture<List<Object>> run(Waiter waiter, Script script, List<Object> names, Object[] arguments) {
        Lanes now = lanes;
        if (now == null) {
            return CompletableFuture.failedFuture(notConnected());
        }
        return now.run(waiter, script, names, arguments);
    }

    /** Lets the calls in flight finish, for no longer than they may take; then ends everything. */
    @Override
    public void close() {
        Lanes last = lanes;
        closed.countDown();
        lanes = null;
        connected.countDown();
        watch.interrupt();
        if (last != null) {
            last.close();
        }
        RedissonClient own = client;
        if (owned && own != null) {
            RedisClients.shutdown(own);
        }
        if (Thread.currentThread() != watch) {
            try {
                watch.join(LONGEST_JOIN.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private BackendException notConnected() {
        return isClosed()
                ? RedisFailure.closed()
                : new BackendException("RL-201 there is no connection to " + name + " yet");
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void watch() {
        try {
            connectUntilDone();
            long dueMicros = monotonic.nowMicros() + LOOK_AGAIN_MICROS;
            while (!isClosed()) {
                Runnable task = tasks.poll(Math.max(0, dueMicros - monotonic.nowMicros()), TimeUnit.MICROSECONDS);
                if (task != null) {
                    task.run();
                }
                // Also while tasks keep coming, of another master that comes and goes, say.
                Lanes now = lanes;
                if (now != null && monotonic.nowMicros() >= dueMicros) {
                    now.lookAgain();
                    dueMicros = monotonic.nowMicros() + LOOK_AGAIN_MICROS;
                }
            }
        } catch (InterruptedException closing) {
            LOG.debug("the watch on {} ends", name);
        }
    }

    private void connectUntilDone() throws InterruptedException {
        long pause = FIRST_PAUSE_MILLIS;
        Set<String> logged = new HashSet<>();
        while (!isClosed()) {
            long longest = LONGEST_PAUSE_MILLIS;
            try {
                if (client == null) {
                    knock.orThrow();
                    longest = LONGEST_PAUSE_OF_CLIENTS_MILLIS;
                    client = connect.get();
                    longest = LONGEST_PAUSE_MILLIS;
                }
                useClient();
                return;
            } catch (LinkageError e) {
                LOG.error("RL-211 this Redisson can't be used; the limiter needs 4.7.0 or newer", e);
                closed.await();
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                String reason = RedisFailure.whileConnecting(e);
                // One cause can have several texts, of ours and of Redisson; those begin alike.
                if (!isClosed() && logged.add(reason.replaceFirst(": .*", ""))) {
                    LOG.warn(
                            "{}; no connection to {} yet; the failure modes answer, and it is tried again until there is"
                                    + " one",
                            reason,
                            name);
                }
                LOG.debug("the attempt to connect failed", e);
            }
            if (closed.await(pause, TimeUnit.MILLISECONDS)) {
                return;
            }
            pause = Math.min(longest, pause * 2);
        }
    }

    private void useClient() throws Exception {
        RedissonClient made = Objects.requireNonNull(client, "made before");
        if (isClosed()) {
            close();
            throw new InterruptedException("closed while connecting");
        }
        Lanes fresh = new Lanes(made, keys, deadline, deadlines, tasks::add);
        fresh.testAll();
        lanes = fresh;
        if (isClosed()) {
            lanes = null;
            fresh.close();
            return;
        }
        LOG.info("connected to {}", name);
        connected.countDown();
    }
}
