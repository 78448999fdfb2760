package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The senders to the masters behind a client: each is tested when it appears and when it is back, probed while it does not
 * answer, and forgotten when its master is none any more. Thread-safe.
 */
final class Senders implements Sender.Watch {
    private static final Logger LOG = DiagnosticLog.of(Senders.class);
    private static final long PROBE_PAUSE_MICROS = 100_000;
    /** Longer than callers wait: what answers by then is slow, and not away. */
    private static final long PROBE_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_PROBE_MICROS = 2_000_000;
    private static final long TEST_PAUSE_MICROS = 1_000_000;

    private final Masters masters;
    private final Evaluator evaluator;
    private final Duration deadline;
    private final @Nullable TimeSource decisionTime;
    private final ScheduledExecutorService timer;
    private final Executor watch;
    private final SelfTest selfTest;
    private final Prober prober;
    private final TimeSource monotonic = TimeSource.system();
    private final Map<Object, Sender> byMaster = new ConcurrentHashMap<>();
    private final Map<String, MasterLog> logs = new ConcurrentHashMap<>();
    /** Errors that come and go must not keep Redis busy with tests. */
    private final Map<Sender, Throttle> tests = new ConcurrentHashMap<>();
    /** Those whose last test had no answer. */
    private final Set<Sender> untested = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /**
     * The senders of a client.
     *
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a master that is well answers
     * @param timer runs what does not wait
     * @param watch runs tests, which wait for Redis, and writes to the log, which may be slow: not on the callers' clock
     */
    Senders(
            RedissonClient client,
            RedisKeys keys,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            ScheduledExecutorService timer,
            Executor watch) {
        this.masters = new Masters(client);
        this.evaluator = new Evaluator(client);
        this.decisionTime = decisionTime;
        this.deadline = deadline;
        this.timer = timer;
        this.watch = watch;
        this.prober = new Prober(masters, evaluator, keys, timer, monotonic);
        this.selfTest = new SelfTest(masters, evaluator, keys, Clock.systemUTC());
    }

    /** Whether the keys of one call must share a slot. */
    boolean areCluster() {
        return masters.areCluster();
    }

    /** The sender to the master that has a key. */
    Sender of(String key) {
        Object master = masters.of(key);
        Sender sender = byMaster.get(master);
        return sender != null
                ? sender
                : byMaster.computeIfAbsent(master, found -> {
                    Sender fresh = made(found);
                    watch.execute(() -> test(fresh));
                    return fresh;
                });
    }

    /** What the tests found, as it stands now. */
    List<String> findings() {
        return logs.values().stream()
                .flatMap(log -> log.findings().stream())
                .sorted()
                .toList();
    }

    BackendHealth health() {
        Map<String, BackendHealth.State> states = new TreeMap<>();
        List<String> all = new ArrayList<>(findings());
        for (Sender sender : byMaster.values()) {
            Breaker breaker = sender.breaker();
            BackendException reason = breaker.whyNotDeciding();
            // An earlier master of that name may not have been forgotten yet: the worse of the two is told.
            states.merge(sender.name(), breaker.health(), (one, other) -> one.compareTo(other) > 0 ? one : other);
            if (reason != null && (!breaker.isClosed() || log(sender).findings().isEmpty())) {
                all.add(String.valueOf(reason.getMessage()));
            }
        }
        all.sort(null);
        return new BackendHealth(states, all);
    }

    /**
     * Connects, and tests all masters, before the first caller.
     *
     * @throws BackendException if none of them answers
     */
    void testAll() throws InterruptedException {
        BackendException silence = null;
        List<Sender> silent = new ArrayList<>();
        Collection<Object> all = masters.all();
        for (Object master : all) {
            Sender sender = byMaster.computeIfAbsent(master, this::made);
            try {
                note(sender, selfTest.of(master));
            } catch (BackendException e) {
                silence = e;
                silent.add(sender);
            }
        }
        if (silence != null && silent.size() == all.size()) {
            throw silence;
        }
        // Others answer, so those that need them get an answer; who needs these is not kept waiting.
        silent.forEach(Sender::suspect);
    }

    /** What was found may be so no more, and who was master, neither. To be called on the watch once in a while. */
    void lookAgain() {
        logs.values().forEach(MasterLog::write);
        Collection<Object> all = masters.all();
        for (Sender sender : byMaster.values()) {
            if (!all.contains(sender.master())) {
                forget(sender);
            } else if (untested.contains(sender)
                    || !log(sender).findings().isEmpty()
                    || sender.breaker().whyNotDeciding() != null) {
                test(sender);
            }
        }
    }

    /** Lets the calls in flight finish, for no longer than a deadline. */
    void close() {
        closed = true;
        long endMicros = monotonic.nowMicros() + deadline.toNanos() / 1_000;
        try {
            while (monotonic.nowMicros() < endMicros
                    && !byMaster.values().stream().allMatch(Sender::isIdle)) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byMaster.values().forEach(sender -> sender.close(RedisFailure.closed()));
    }

    private Sender made(Object master) {
        return new Sender(master, Masters.name(master), monotonic, decisionTime, deadline, evaluator, this);
    }

    private MasterLog log(Sender sender) {
        return logs.computeIfAbsent(sender.name(), name -> new MasterLog(name, monotonic));
    }

    private void forget(Sender sender) {
        byMaster.remove(sender.master(), sender);
        untested.remove(sender);
        tests.remove(sender);
        MasterLog log = logs.remove(sender.name());
        if (log != null) {
            watch.execute(log::end);
        }
    }

    private void test(Sender sender) {
        if (closed || !sender.breaker().isClosed()) {
            return;
        }
        untested.remove(sender);
        try {
            note(sender, selfTest.of(sender.master()));
        } catch (BackendException silent) {
            untested.add(sender);
            LOG.debug("{} does not answer its self-test", sender.name(), silent);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    private void note(Sender sender, SelfTest.Found found) {
        log(sender).setFindings(found.findings());
        sender.breaker().noteTested(found.refusal());
    }

    @Override
    public void away(Sender sender) {
        watch.execute(() -> log(sender).setAway(true));
    }

    @Override
    public void back(Sender sender) {
        watch.execute(() -> {
            if (log(sender).setAway(false)) {
                test(sender);
            }
        });
    }

    @Override
    public void refuses(Sender sender) {
        // Who does not pass is tested when all are looked at again.
        if (tests.computeIfAbsent(sender, first -> new Throttle(monotonic, TEST_PAUSE_MICROS))
                .tryPass()) {
            watch.execute(() -> test(sender));
        }
    }

    @Override
    public void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Asks a master that does not answer, one probe at a time, until it does or is no master any more. */
    @Override
    public void suspect(Sender sender) {
        if (closed) {
            return;
        }
        if (sender.breaker().isClosed()) {
            sender.endProbing();
            return;
        }
        try {
            if (!masters.all().contains(sender.master())) {
                forget(sender);
                return;
            }
            prober.ask(sender.master(), patience(sender)).thenAccept(result -> {
                if (!closed) {
                    sender.probed(result.failure(), result.isAnswer(), result.tookMicros());
                }
                after(PROBE_PAUSE_MICROS, () -> suspect(sender));
            });
        } catch (RuntimeException e) {
            // Whatever it is (a client that somebody shut down, say): without a next probe the breaker would stay open
            // for
            // ever.
            LOG.debug("a probe could not be sent to {}", sender.name(), e);
            after(PROBE_PAUSE_MICROS, () -> suspect(sender));
        }
    }

    /** As long as anybody would wait: whom it answers in time, it is not away for. */
    private Duration patience(Sender sender) {
        long longest = Math.max(PROBE_PATIENCE_MICROS, Math.max(sender.longestMicros(), deadline.toNanos() / 1_000));
        return Duration.of(Math.min(LONGEST_PROBE_MICROS, longest), ChronoUnit.MICROS);
    }
}
