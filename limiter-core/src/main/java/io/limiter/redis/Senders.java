package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The senders to the masters behind a client: each is tested when it appears and when it has recovered, probed while it
 * does not answer, and removed when it is no longer a master. Thread-safe.
 */
final class Senders {
    private static final Logger LOG = DiagnosticLog.of(Senders.class);
    private static final long PROBE_PAUSE_MICROS = 100_000;
    /** Longer than callers wait: a master that answers by then is slow, not unreachable. */
    private static final long PROBE_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_PROBE_MICROS = 2_000_000;
    private static final long TEST_PAUSE_MICROS = 1_000_000;

    private static final long SECRETS_PAUSE_MICROS = 60_000_000;

    final Masters masters;
    private final Duration deadline;
    private final @Nullable TimeSource decisionTime;
    private final Timer timer;
    private final Executor watch;
    private final SelfTest selfTest;
    private final EventLoops loops;
    private final Prober prober;
    private final TimeSource monotonic = TimeSource.system();
    private final Map<Object, Watched> byMaster = new ConcurrentHashMap<>();
    /** An instance that starts later may have another secret. */
    private final Throttle secretLooks = new Throttle(monotonic, SECRETS_PAUSE_MICROS);

    private volatile boolean closed;

    /**
     * The senders of a client.
     *
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param timer runs tasks that do not block
     * @param watch runs tests, which wait for Redis, and writes to the log, which may be slow: not on the callers' clock
     */
    Senders(
            RedissonClient client,
            RedisKeys keys,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Timer timer,
            Executor watch) {
        this.masters = new Masters(client);
        this.decisionTime = decisionTime;
        this.deadline = deadline;
        this.timer = timer;
        this.watch = watch;
        this.loops = new EventLoops(masters, timer, monotonic);
        this.prober = new Prober(masters, keys, loops, timer, monotonic);
        this.selfTest = new SelfTest(masters, keys);
    }

    /** The sender to the master that has a key. */
    Sender of(String key) {
        Object master = masters.of(key);
        Watched watched = byMaster.get(master);
        if (watched == null) {
            watched = byMaster.computeIfAbsent(master, Watched::new);
            watch.execute(watched::test);
        }
        return watched.sender;
    }

    /** The reason why a call that waits this long is not sent, if there is one master; else null. */
    @Nullable
    BackendException whyNotAsked(long longestMicros) {
        Watched only = masters.areCluster() ? null : byMaster.get(masters.of(""));
        return only == null ? null : only.sender.breaker.whyNotAsked(longestMicros);
    }

    /** The current state of each master, with the findings of its tests. */
    BackendHealth health() {
        Map<String, BackendHealth.State> states = new TreeMap<>();
        List<String> all = new ArrayList<>();
        for (Watched watched : byMaster.values()) {
            Breaker breaker = watched.sender.breaker;
            BackendException reason = breaker.whyNotDeciding();
            all.addAll(watched.log.findings());
            // An earlier master of that name may not have been removed yet: the worse of the two is reported.
            states.merge(
                    Masters.name(watched.master), breaker.health(), BinaryOperator.maxBy(Comparator.naturalOrder()));
            if (reason != null && (!breaker.isClosed() || watched.log.findings().isEmpty())) {
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
    void testAll() {
        masters.all().forEach(master -> byMaster.computeIfAbsent(master, Watched::new));
        byMaster.values().forEach(Watched::test);
        if (byMaster.values().stream().allMatch(watched -> watched.silence != null)) {
            throw Objects.requireNonNull(byMaster.values().iterator().next().silence);
        }
        // Other masters answer the calls that need them; calls to these do not wait.
        byMaster.values().stream()
                .filter(watched -> watched.silence != null)
                .forEach(watched -> watched.sender.suspect());
    }

    /** Checks findings and masters again, which may have changed. Called periodically on the watch thread. */
    void lookAgain() {
        Collection<Object> all = masters.all();
        boolean secretsAreDue = secretLooks.tryPass();
        for (Watched watched : byMaster.values()) {
            watched.log.write();
            if (!all.contains(watched.master)) {
                watched.forget();
            } else if (watched.silence != null
                    || !watched.log.findings().isEmpty()
                    || (secretsAreDue && selfTest.checksSecretsOn(watched.master))
                    || watched.sender.breaker.whyNotDeciding() != null) {
                watched.test();
            }
        }
    }

    /** Waits for the calls in flight, for at most a deadline. */
    void close() {
        closed = true;
        long endMicros = monotonic.nowMicros() + deadline.toNanos() / 1_000;
        try {
            while (monotonic.nowMicros() < endMicros
                    && !byMaster.values().stream().allMatch(watched -> watched.sender.isIdle())) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byMaster.values().forEach(watched -> watched.sender.close(RedisFailure.closed()));
    }

    /** A master and its tests and probes. */
    private final class Watched {
        private final Object master;
        private final Sender sender;
        private final MasterLog log;
        /** Intermittent errors must not keep Redis busy with tests. Further tests wait for the next periodic check. */
        private final Throttle tests = new Throttle(monotonic, TEST_PAUSE_MICROS);
        /** The reason why its last test had no answer. */
        private volatile @Nullable BackendException silence;

        Watched(Object master) {
            String name = Masters.name(master);
            this.master = master;
            this.log = new MasterLog(name, monotonic);
            this.sender = new Sender(
                    name,
                    monotonic,
                    decisionTime,
                    deadline,
                    masters.areCluster(),
                    masters::run,
                    timer,
                    loops::latenessMicros,
                    this::on);
        }

        private void on(Breaker.Event event) {
            switch (event) {
                case PROBE -> timer.after(0, this::probe);
                case AWAY -> watch.execute(() -> log.setUnreachable(true));
                case BACK ->
                    watch.execute(() -> {
                        if (log.setUnreachable(false)) {
                            test();
                        }
                    });
                case REFUSAL -> {
                    if (tests.tryPass()) {
                        watch.execute(this::test);
                    }
                }
            }
        }

        void test() {
            if (closed || !sender.breaker.isClosed()) {
                return;
            }
            try {
                SelfTest.Found found = selfTest.of(master);
                log.setFindings(found.findings());
                sender.breaker.noteTested(found.refusal());
                silence = null;
            } catch (BackendException silent) {
                silence = silent;
                LOG.debug("{} does not answer its self-test", Masters.name(master), silent);
            } catch (InterruptedException closing) {
                silence = RedisFailure.closed();
                Thread.currentThread().interrupt();
            }
        }

        void forget() {
            byMaster.remove(master, this);
            watch.execute(log::end);
        }

        /** Probes a master that does not answer, one probe at a time, until it does or is no longer a master. */
        private void probe() {
            if (closed) {
                return;
            }
            if (sender.breaker.isClosed()) {
                sender.breaker.endProbing();
                return;
            }
            try {
                if (!masters.all().contains(master)) {
                    forget();
                    return;
                }
                prober.ask(master, patience()).thenAccept(result -> {
                    if (!closed) {
                        sender.probed(result.failure(), result.isAnswer(), result.tookMicros());
                    }
                    timer.after(PROBE_PAUSE_MICROS, this::probe);
                });
            } catch (RuntimeException e) {
                // Whatever the reason (for example a client that was shut down): without a next probe it would stay
                // open.
                LOG.debug("a probe could not be sent to {}", Masters.name(master), e);
                timer.after(PROBE_PAUSE_MICROS, this::probe);
            }
        }

        /** The longest deadline of its callers: if it answers in that time, it is not unreachable. */
        private Duration patience() {
            long longest = Math.max(sender.longestMicros, deadline.toNanos() / 1_000);
            return Duration.of(
                    Math.min(LONGEST_PROBE_MICROS, Math.max(PROBE_PATIENCE_MICROS, longest)), ChronoUnit.MICROS);
        }
    }
}
