package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one Redis: sends each call to the master that has its keys. It is made on a thread of its own, with
 * retries until it succeeds, so that no caller ever waits for it; once connected, the client maintains it, and that thread
 * watches the masters. Thread-safe.
 */
final class Connection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
    private static final TimeSource TIME = TimeSource.system();
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    /** How often findings are checked again, and former masters are removed. */
    static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

    private static final long LONGEST_JOIN_MILLIS = 2_000;
    private static final long SECRETS_PAUSE_MICROS = 60_000_000;

    private final RedisClients clients;
    private final RedisKeys keys;
    private final @Nullable TimeSource decisionTime;
    private final Duration deadline;
    private final Duration lookAgain;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final CountDownLatch connected = new CountDownLatch(1);
    /** Runs tasks that never block; ends futures at their deadline. */
    private final ScheduledThreadPoolExecutor timer = OneThread.executor("limiter-redis-timer", threads);
    /** Runs tasks that may block, for Redis or for the log. */
    private final ScheduledThreadPoolExecutor watch = OneThread.executor("limiter-redis-watch", threads);

    private final Set<String> loggedReasons = new HashSet<>();
    /** What is connected, or tries to. */
    private volatile @Nullable Transport tried;
    /** The same once it is connected; null before, and in the end. */
    volatile @Nullable Transport transport;

    private final Map<Object, MasterLink> links = new ConcurrentHashMap<>();
    /** An instance that starts later may have another secret. */
    private final Throttle secretLooks = new Throttle(TIME::nowMicros, SECRETS_PAUSE_MICROS);

    private volatile boolean closed;
    /** Made once: every call gets it until there is a connection. */
    private final BackendException notYet;

    /**
     * Starts to connect.
     *
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param lookAgain how often findings are checked again
     */
    Connection(
            RedisClients clients,
            RedisKeys keys,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Duration lookAgain) {
        this.clients = clients;
        this.keys = keys;
        this.decisionTime = decisionTime;
        this.deadline = deadline;
        this.lookAgain = lookAgain;
        this.notYet = new BackendException("RL-201 there is no connection to " + clients.name() + " yet");
        watch.execute(() -> connect(1, FIRST_PAUSE_MILLIS));
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS) && !closed;
    }

    /** The current state of each master, with the findings of its tests. */
    Backend.Health health() {
        Map<String, Backend.Health.State> states = new TreeMap<>();
        List<String> all = new ArrayList<>();
        if (transport == null) {
            states.put(clients.name(), Backend.Health.State.AWAY);
            all.add(String.valueOf(notConnected().getMessage()));
            return new Backend.Health(states, all);
        }
        for (MasterLink link : links.values()) {
            MasterHealth one = link.health;
            BackendException reason = one.whyNotDeciding();
            List<String> findings = one.test.findings();
            all.addAll(findings);
            // An earlier master of that name may not have been removed yet: the worse of the two is reported.
            states.merge(one.test.name, one.state(), BinaryOperator.maxBy(Comparator.naturalOrder()));
            if (reason != null && (!one.isClosed() || findings.isEmpty())) {
                all.add(String.valueOf(reason.getMessage()));
            }
        }
        all.sort(null);
        return new Backend.Health(states, all);
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        Transport now = transport;
        return now != null && now.isCluster();
    }

    /** Sends a call to the master that has its keys. Returns its future, which completes at its deadline at the latest. */
    CompletableFuture<List<LimitOutcome>> send(Call call) {
        try {
            link(call).send(call);
        } catch (BackendException e) {
            call.tryFail(Call.State.WAITING, e);
        }
        return call.future();
    }

    /** The same for several calls, grouped by master. */
    void send(Collection<Call> calls) {
        Set<MasterLink> added = new HashSet<>();
        for (Call call : calls) {
            try {
                MasterLink link = link(call);
                link.add(call);
                added.add(link);
            } catch (BackendException e) {
                call.tryFail(Call.State.WAITING, e);
            }
        }
        added.forEach(MasterLink::sendWaiting);
    }

    /**
     * Sends a call that this thread has made, and waits for it.
     *
     * @throws BackendException if there is no answer within its deadline
     */
    List<LimitOutcome> sendAndWait(Call call) {
        try {
            MasterLink link = link(call);
            link.send(call);
            return link.await(call);
        } catch (BackendException e) {
            call.tryFail(Call.State.WAITING, e);
            throw e;
        }
    }

    /**
     * Checks whether a call with this deadline would be sent, before it is made. A cluster's master is known only then.
     *
     * @throws BackendException the reason why it is not
     */
    void requireAvailable(Duration longest) {
        Transport now = connected();
        MasterLink only = now.isCluster() ? null : links.get(now.master(""));
        BackendException reason = only == null ? null : only.health.refusal(longest.toNanos() / 1_000);
        if (reason != null) {
            throw reason;
        }
    }

    private MasterLink link(Call call) {
        Transport now = connected();
        Object master = now.master(call.parts.get(0).key());
        MasterLink known = links.get(master);
        if (known == null) {
            known = linked(now, master);
            watch.execute(known.health::test);
        }
        return known;
    }

    private Transport connected() {
        Transport now = transport;
        if (now == null) {
            throw notConnected();
        }
        return now;
    }

    private MasterLink linked(Transport now, Object master) {
        return links.computeIfAbsent(
                master,
                one -> new MasterLink(
                        new SelfTest(now, keys, one, TIME), TIME, decisionTime, deadline, watch, this::forget));
    }

    private void forget(MasterLink former) {
        links.remove(former.health.test.master, former);
        watch.execute(former.health.test::end);
    }

    /** Runs a task that never blocks after some time, unless this is closed by then. */
    void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Waits for the calls that wait or are on their way, for at most a deadline; then ends everything. */
    @Override
    public void close() {
        closed = true;
        transport = null;
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
        Transport last = tried;
        if (last != null) {
            last.close();
        }
    }

    /** Waits until no call waits or is on its way, for at most a deadline; ends the rest. */
    private void endCalls() {
        long endMicros = TIME.nowMicros() + deadline.toNanos() / 1_000;
        try {
            while (TIME.nowMicros() < endMicros && !links.values().stream().allMatch(MasterLink::isIdle)) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        links.values().forEach(MasterLink::close);
    }

    private BackendException notConnected() {
        return closed ? RedisFailure.closed() : notYet;
    }

    private void connect(int attempt, long pauseMillis) {
        long startMicros = TIME.nowMicros();
        try {
            Transport fresh = Objects.requireNonNullElseGet(tried, () -> clients.make(timer, attempt));
            tried = fresh;
            testAll(fresh);
            transport = fresh;
            if (closed) {
                // Closed in the meantime: close() may not have seen all masters.
                transport = null;
                endCalls();
                return;
            }
            LOG.info("connected to {}", clients.name());
            if (!fresh.slowSettings().isEmpty()) {
                LOG.warn(
                        "RL-213 the settings of this client of Redis impair the limiter: {}",
                        String.join("; ", fresh.slowSettings()));
            }
            connected.countDown();
            watch.scheduleWithFixedDelay(
                    () -> lookAgain(fresh), lookAgain.toNanos(), lookAgain.toNanos(), TimeUnit.NANOSECONDS);
        } catch (LinkageError e) {
            LOG.error(
                    "RL-211 this client of Redis can't be used; the limiter needs Redisson 4.7.0 or Lettuce 6.6.0, or newer",
                    e);
        } catch (Exception e) {
            if (!closed) {
                retry(attempt, pauseMillis, TIME.nowMicros() - startMicros, e);
            }
        }
    }

    private void retry(int attempt, long pauseMillis, long tookMicros, Exception failure) {
        String reason = RedisFailure.whileConnecting(failure, clients.isTls());
        // One cause can have several texts with the same beginning.
        if (loggedReasons.add(reason.replaceFirst(": .*", ""))) {
            LOG.warn(
                    "{}; no connection to {} yet; the failure modes answer until a retry succeeds",
                    reason,
                    clients.name());
        }
        LOG.debug("the attempt to connect failed", failure);
        Transport last = tried;
        if (RedisClients.makesAnother(attempt + 1, tookMicros) && last != null) {
            last.close();
            tried = null;
        }
        long longer = Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2);
        watch.schedule(() -> connect(attempt + 1, longer), pauseMillis, TimeUnit.MILLISECONDS);
    }

    /**
     * Connects, and tests all masters, before the first caller.
     *
     * @throws BackendException if none of them answers
     */
    private void testAll(Transport fresh) {
        links.clear();
        fresh.masters().forEach(master -> linked(fresh, master));
        List<MasterHealth> all =
                links.values().stream().map(link -> link.health).toList();
        all.forEach(MasterHealth::test);
        List<MasterHealth> silent =
                all.stream().filter(one -> one.silence != null).toList();
        if (silent.size() == all.size()) {
            throw Objects.requireNonNull(silent.get(0).silence);
        }
        // Other masters answer the calls that need them; calls to these do not wait.
        silent.forEach(one -> one.noteSilences(MasterHealth.SILENCES));
    }

    /** Checks findings and masters again, which may have changed. */
    private void lookAgain(Transport now) {
        try {
            Collection<?> all = now.masters();
            boolean secretsAreDue = secretLooks.tryPass();
            for (MasterLink one : links.values()) {
                if (all.contains(one.health.test.master)) {
                    one.health.lookAgain(secretsAreDue);
                } else {
                    one.health.test.write();
                    forget(one);
                }
            }
        } catch (RuntimeException e) {
            // For example a client that was shut down. An exception would end the scheduled task.
            LOG.debug("the masters could not be checked", e);
        }
    }
}
