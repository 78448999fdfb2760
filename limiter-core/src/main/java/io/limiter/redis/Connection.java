package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The connection to one Redis. It is made on a thread of its own, with retries until it succeeds, so that no caller
 * ever waits for it; once connected, Redisson maintains it, and that thread monitors the masters. Thread-safe.
 */
final class Connection implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Connection.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    /** How often findings are checked again, and former masters are removed. */
    private static final long LOOK_AGAIN_SECONDS = 5;
    /** Each failed attempt leaves some kilobytes in a client of Redisson, so it is replaced every few minutes. */
    private static final int ATTEMPTS_OF_A_CLIENT = 500;

    private static final long LONGEST_JOIN_MILLIS = 2_000;

    private final RedisClients clients;
    private final RedisKeys keys;
    private final @Nullable TimeSource decisionTime;
    private final Duration deadline;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final CountDownLatch connected = new CountDownLatch(1);
    /** Runs tasks that never block; ends futures at their deadline. */
    private final ScheduledThreadPoolExecutor timer = executor("limiter-redis-timer");
    /** Runs tasks that may block, for Redis or for the log. */
    private final ScheduledThreadPoolExecutor watch = executor("limiter-redis-watch");

    private final Set<String> toldReasons = new HashSet<>();
    private volatile @Nullable RedissonClient client;
    /** Null while there is no connection. */
    private volatile @Nullable Senders senders;

    private volatile boolean closed;
    /** Made once: every call gets it until there is a connection. */
    private final BackendException notYet;

    /**
     * Starts to connect.
     *
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     */
    Connection(RedisClients clients, RedisKeys keys, @Nullable TimeSource decisionTime, Duration deadline) {
        this.clients = clients;
        this.keys = keys;
        this.decisionTime = decisionTime;
        this.deadline = deadline;
        this.notYet = new BackendException("RL-201 there is no connection to " + clients.name() + " yet");
        watch.execute(() -> connect(1, FIRST_PAUSE_MILLIS));
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS) && !closed;
    }

    BackendHealth health() {
        Senders now = senders;
        return now == null
                ? new BackendHealth(
                        Map.of(clients.name(), BackendHealth.State.AWAY),
                        List.of(String.valueOf(notConnected().getMessage())))
                : now.health();
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        Senders now = senders;
        return now != null && now.masters.areCluster();
    }

    /** Sends a call to the master that has its keys; the returned stage completes at its deadline at the latest. */
    CompletableFuture<List<LimitOutcome>> send(Call call) {
        try {
            sender(call).send(call);
            return call.future();
        } catch (BackendException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The same for several calls, grouped by master. */
    List<CompletableFuture<List<LimitOutcome>>> sendTogether(List<Call> calls) {
        Map<Sender, List<Call>> bySender = new LinkedHashMap<>();
        List<CompletableFuture<List<LimitOutcome>>> answers = new ArrayList<>(calls.size());
        for (Call call : calls) {
            try {
                bySender.computeIfAbsent(sender(call), one -> new ArrayList<>()).add(call);
                answers.add(call.future());
            } catch (BackendException e) {
                answers.add(CompletableFuture.failedFuture(e));
            }
        }
        bySender.forEach(Sender::sendTogether);
        return answers;
    }

    /**
     * Sends a call that this thread has made, and waits for it.
     *
     * @throws BackendException if there is no answer within its deadline
     */
    List<LimitOutcome> sendAndWait(Call call) {
        Sender sender = sender(call);
        sender.send(call);
        return sender.await(call);
    }

    /**
     * Throws what a call with this deadline would get without being sent, before the call is made; a cluster's master is known
     * only then.
     */
    void refuse(Duration longest) {
        Senders now = senders;
        if (now == null) {
            throw notConnected();
        }
        BackendException refusal;
        try {
            refusal = now.whyNotAsked(longest.toNanos() / 1_000);
        } catch (RuntimeException e) {
            throw RedisFailure.of(e);
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    private Sender sender(Call call) {
        Senders now = senders;
        if (now == null) {
            throw notConnected();
        }
        try {
            return now.of(call.parts.get(0).key());
        } catch (RuntimeException e) {
            throw RedisFailure.of(e);
        }
    }

    /** Runs a task that does not wait after some time, unless this is closed by then. */
    void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Waits for the calls in flight until their deadlines; then ends everything. */
    @Override
    public void close() {
        Senders last = senders;
        closed = true;
        senders = null;
        connected.countDown();
        watch.shutdownNow();
        if (last != null) {
            last.close();
        }
        timer.shutdownNow();
        try {
            // Join the threads themselves: an executor has terminated a moment before they end.
            for (Thread thread : threads) {
                if (thread != Thread.currentThread()) {
                    thread.join(LONGEST_JOIN_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        clients.shutdown(client);
    }

    private BackendException notConnected() {
        return closed ? RedisFailure.closed() : notYet;
    }

    private void connect(int attempt, long pauseMillis) {
        try {
            RedissonClient used = client;
            if (used == null) {
                used = clients.make();
                client = used;
            }
            Senders fresh = new Senders(used, keys, decisionTime, deadline, this::after, watch);
            fresh.testAll();
            if (closed) {
                return;
            }
            senders = fresh;
            if (closed) {
                // Closed in the meantime: close() has not seen them.
                senders = null;
                fresh.close();
                return;
            }
            LOG.info("connected to {}", clients.name());
            if (!fresh.masters.slowSettings().isEmpty()) {
                LOG.warn(
                        "RL-213 the settings of this Redisson client impair the limiter: {}",
                        String.join("; ", fresh.masters.slowSettings()));
            }
            connected.countDown();
            watch.scheduleWithFixedDelay(
                    () -> lookAgain(fresh), LOOK_AGAIN_SECONDS, LOOK_AGAIN_SECONDS, TimeUnit.SECONDS);
        } catch (LinkageError e) {
            LOG.error("RL-211 this Redisson can't be used; the limiter needs 4.7.0 or newer", e);
        } catch (Exception e) {
            if (closed) {
                return;
            }
            String reason = RedisFailure.whileConnecting(e);
            // One cause can have several texts with the same beginning.
            if (toldReasons.add(reason.replaceFirst(": .*", ""))) {
                LOG.warn(
                        "{}; no connection to {} yet; the failure modes answer until a retry succeeds",
                        reason,
                        clients.name());
            }
            LOG.debug("the attempt to connect failed", e);
            if (attempt % ATTEMPTS_OF_A_CLIENT == 0) {
                clients.shutdown(client);
                client = null;
            }
            long next = Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2);
            watch.schedule(() -> connect(attempt + 1, next), pauseMillis, TimeUnit.MILLISECONDS);
        }
    }

    private static void lookAgain(Senders senders) {
        try {
            senders.lookAgain();
        } catch (RuntimeException e) {
            // For example a client that was shut down. An exception would end the scheduled task.
            LOG.debug("the masters could not be checked", e);
        }
    }

    /** One thread. Tasks after its end are dropped. */
    private ScheduledThreadPoolExecutor executor(String name) {
        return new ScheduledThreadPoolExecutor(
                1,
                task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    threads.add(thread);
                    thread.setContextClassLoader(Connection.class.getClassLoader());
                    return thread;
                },
                new ScheduledThreadPoolExecutor.DiscardPolicy());
    }
}
