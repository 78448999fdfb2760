package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.LimitOutcome;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The connection to one Redis: sends each call to the master that has its keys. It is made on a thread of its own, with
 * retries until it succeeds, so that no caller ever waits for it; once connected, Redisson maintains it, and that thread
 * watches the masters. Thread-safe.
 */
final class Connection implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Connection.class);
    private static final TimeSource TIME = TimeSource.system();
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    /** How often findings are checked again, and former masters are removed. */
    private static final long LOOK_AGAIN_SECONDS = 5;
    /** Each failed attempt leaves some kilobytes in a client of Redisson, so it is replaced every few minutes. */
    private static final int ATTEMPTS_OF_A_CLIENT = 500;

    private static final long LONGEST_JOIN_MILLIS = 2_000;
    private static final long SECRETS_PAUSE_MICROS = 60_000_000;

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
    private volatile @Nullable Masters masters;

    private final Map<Object, MasterWatch> byMaster = new ConcurrentHashMap<>();
    /** An instance that starts later may have another secret. */
    private final Throttle secretLooks = new Throttle(TIME, SECRETS_PAUSE_MICROS);

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

    /** The current state of each master, with the findings of its tests. */
    BackendHealth health() {
        Map<String, BackendHealth.State> states = new TreeMap<>();
        List<String> all = new ArrayList<>();
        if (masters == null) {
            states.put(clients.name(), BackendHealth.State.AWAY);
            all.add(String.valueOf(notConnected().getMessage()));
            return new BackendHealth(states, all);
        }
        for (MasterWatch one : byMaster.values()) {
            Breaker breaker = one.sender.breaker;
            BackendException reason = breaker.whyNotDeciding();
            all.addAll(one.findings());
            // An earlier master of that name may not have been removed yet: the worse of the two is reported.
            states.merge(one.name, breaker.health(), BinaryOperator.maxBy(Comparator.naturalOrder()));
            if (reason != null && (!breaker.isClosed() || one.findings().isEmpty())) {
                all.add(String.valueOf(reason.getMessage()));
            }
        }
        all.sort(null);
        return new BackendHealth(states, all);
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        Masters now = masters;
        return now != null && now.areCluster();
    }

    /** Sends a call to the master that has its keys. Returns its future, which completes at its deadline at the latest. */
    CompletableFuture<List<LimitOutcome>> send(Call call) {
        try {
            sender(call).send(List.of(call));
        } catch (BackendException e) {
            call.tryFail(Call.State.WAITING, e);
        }
        return call.future();
    }

    /** The same for several calls, grouped by master. */
    void sendTogether(Collection<Call> calls) {
        Map<Sender, List<Call>> bySender = new LinkedHashMap<>();
        for (Call call : calls) {
            try {
                bySender.computeIfAbsent(sender(call), one -> new ArrayList<>()).add(call);
            } catch (BackendException e) {
                call.tryFail(Call.State.WAITING, e);
            }
        }
        bySender.forEach(Sender::send);
    }

    /**
     * Sends a call that this thread has made, and waits for it.
     *
     * @throws BackendException if there is no answer within its deadline
     */
    List<LimitOutcome> sendAndWait(Call call) {
        Sender sender = sender(call);
        sender.send(List.of(call));
        return sender.await(call);
    }

    /**
     * The reason why a call with this deadline is not sent, before the call is made; null if it is. A cluster's master is
     * known only then.
     */
    @Nullable
    BackendException whyNotSent(Duration longest) {
        Masters now = masters;
        if (now == null) {
            return notConnected();
        }
        MasterWatch only = now.areCluster() ? null : byMaster.get(now.of(""));
        return only == null ? null : only.sender.breaker.whyNotAsked(longest.toNanos() / 1_000);
    }

    private Sender sender(Call call) {
        Masters now = masters();
        Object master = now.of(call.parts.get(0).key());
        MasterWatch known = byMaster.get(master);
        if (known == null) {
            known = watched(now, master);
            watch.execute(known::test);
        }
        return known.sender;
    }

    private Masters masters() {
        Masters now = masters;
        if (now == null) {
            throw notConnected();
        }
        return now;
    }

    private MasterWatch watched(Masters now, Object master) {
        return byMaster.computeIfAbsent(
                master,
                one -> new MasterWatch(
                        one, new SelfTest(now, keys), TIME, decisionTime, deadline, watch, this::forget));
    }

    private void forget(MasterWatch former) {
        byMaster.remove(former.master, former);
        watch.execute(former::end);
    }

    /** Runs a task that does not wait after some time, unless this is closed by then. */
    void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Waits for the calls in flight until their deadlines; then ends everything. */
    @Override
    public void close() {
        closed = true;
        masters = null;
        connected.countDown();
        watch.shutdownNow();
        endCalls();
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

    /** Waits for the calls in flight, for at most a deadline. */
    private void endCalls() {
        long endMicros = TIME.nowMicros() + deadline.toNanos() / 1_000;
        try {
            while (TIME.nowMicros() < endMicros && !byMaster.values().stream().allMatch(one -> one.sender.isIdle())) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byMaster.values().forEach(one -> one.sender.close());
    }

    private BackendException notConnected() {
        return closed ? RedisFailure.closed() : notYet;
    }

    private void connect(int attempt, long pauseMillis) {
        try {
            RedissonClient used = Objects.requireNonNullElseGet(client, clients::make);
            client = used;
            Masters fresh = new Masters(used, timer);
            testAll(fresh);
            masters = fresh;
            if (closed) {
                // Closed in the meantime: close() may not have seen all masters.
                masters = null;
                endCalls();
                return;
            }
            LOG.info("connected to {}", clients.name());
            if (!fresh.slowSettings().isEmpty()) {
                LOG.warn(
                        "RL-213 the settings of this Redisson client impair the limiter: {}",
                        String.join("; ", fresh.slowSettings()));
            }
            connected.countDown();
            watch.scheduleWithFixedDelay(
                    () -> lookAgain(fresh), LOOK_AGAIN_SECONDS, LOOK_AGAIN_SECONDS, TimeUnit.SECONDS);
        } catch (LinkageError e) {
            LOG.error("RL-211 this Redisson can't be used; the limiter needs 4.7.0 or newer", e);
        } catch (Exception e) {
            if (!closed) {
                retry(attempt, pauseMillis, e);
            }
        }
    }

    private void retry(int attempt, long pauseMillis, Exception failure) {
        String reason = RedisFailure.whileConnecting(failure);
        // One cause can have several texts with the same beginning.
        if (toldReasons.add(reason.replaceFirst(": .*", ""))) {
            LOG.warn(
                    "{}; no connection to {} yet; the failure modes answer until a retry succeeds",
                    reason,
                    clients.name());
        }
        LOG.debug("the attempt to connect failed", failure);
        if (attempt % ATTEMPTS_OF_A_CLIENT == 0) {
            clients.shutdown(client);
            client = null;
        }
        long next = Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2);
        watch.schedule(() -> connect(attempt + 1, next), pauseMillis, TimeUnit.MILLISECONDS);
    }

    /**
     * Connects, and tests all masters, before the first caller.
     *
     * @throws BackendException if none of them answers
     */
    private void testAll(Masters fresh) {
        byMaster.clear();
        fresh.all().forEach(master -> watched(fresh, master));
        Collection<MasterWatch> all = byMaster.values();
        all.forEach(MasterWatch::test);
        if (all.stream().allMatch(one -> one.silence != null)) {
            throw Objects.requireNonNull(all.iterator().next().silence);
        }
        // Other masters answer the calls that need them; calls to these do not wait.
        all.stream().filter(one -> one.silence != null).forEach(one -> one.sender.suspect());
    }

    /** Checks findings and masters again, which may have changed. */
    private void lookAgain(Masters now) {
        try {
            Collection<Object> all = now.all();
            boolean secretsAreDue = secretLooks.tryPass();
            for (MasterWatch one : byMaster.values()) {
                one.write();
                if (all.contains(one.master)) {
                    one.testAgain(secretsAreDue);
                } else {
                    forget(one);
                }
            }
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
