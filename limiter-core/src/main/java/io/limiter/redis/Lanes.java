package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;

/**
 * The lanes to the masters behind a client: each is tested when it appears and when it is back, probed while it does not
 * answer, and forgotten when its master is none any more. Thread-safe.
 */
final class Lanes {
    private static final Logger LOG = DiagnosticLog.of(RedisBackend.class);
    private static final Duration PROBE_PAUSE = Duration.ofMillis(100);
    /** Longer than callers wait: what answers by then is slow, and not away. */
    private static final Duration PROBE_PATIENCE = Duration.ofMillis(250);

    private static final long TEST_PAUSE_MICROS = 1_000_000;

    private static final Duration LONGEST_PROBE = Duration.ofSeconds(2);

    private final Masters masters;
    private final Evaluator evaluator;
    private final Duration deadline;
    private final Deadlines deadlines;
    private final Executor watch;
    private final SelfTest selfTest;
    private final Prober prober;
    private final TimeSource monotonic = TimeSource.system();
    private final Lane.Watch onLanes = new OnLanes();
    private final Map<Object, Lane> byMaster = new ConcurrentHashMap<>();
    private final Findings findings = new Findings();
    /** Those whose last test had no answer. */
    private final Set<Lane> untested = ConcurrentHashMap.newKeySet();

    private final Map<String, AwayLog> awayLogs = new ConcurrentHashMap<>();
    /** When a refusal may be followed by a test again. */
    private final Map<Lane, Long> nextTestMicros = new ConcurrentHashMap<>();

    private volatile boolean closed;

    /**
     * The lanes of a client.
     *
     * @param deadline within which the answer to a probe is in time
     * @param watch runs tests, which wait for Redis, and writes to the log, which may be slow: not on the callers' clock
     */
    Lanes(RedissonClient client, RedisKeys keys, Duration deadline, Deadlines deadlines, Executor watch) {
        this.masters = new Masters(client);
        this.evaluator = new Evaluator(client);
        this.deadline = deadline;
        this.deadlines = deadlines;
        this.watch = watch;
        this.prober = new Prober(masters, evaluator, keys, deadlines, monotonic);
        this.selfTest = new SelfTest(masters, evaluator, keys, Clock.systemUTC());
    }

    /** Whether the keys of one call must share a slot. */
    boolean areCluster() {
        return masters.areCluster();
    }

    /** What the tests found, as it stands now. */
    List<String> findings() {
        return findings.all();
    }

    BackendHealth health() {
        Map<String, BackendHealth.State> masters = new TreeMap<>();
        List<String> all = new ArrayList<>();
        for (Lane lane : byMaster.values()) {
            BackendException reason = lane.whyNotDeciding();
            // An earlier master of that name may not have been forgotten yet: the worse of the two is told.
            masters.merge(lane.name(), lane.health(), (one, other) -> one.compareTo(other) > 0 ? one : other);
            if (reason != null && (!lane.isClosed() || !findings.has(lane.name()))) {
                all.add(String.valueOf(reason.getMessage()));
            }
        }
        all.addAll(findings.all());
        all.sort(null);
        return new BackendHealth(masters, all);
    }

    /** Runs a script for somebody who waits, on the master that has its first key; fails at once if that is silent. */
    CompletableFuture<List<Object>> run(Waiter waiter, Script script, List<Object> names, Object[] arguments) {
        return lane(masters.of((String) names.get(0)))
                .run(waiter, () -> evaluator.run(waiter, script, names, arguments));
    }

    /**
     * Tests all masters, before the first caller.
     *
     * @throws BackendException if none of them answers
     */
    void testAll() throws InterruptedException {
        BackendException silence = null;
        List<Lane> silent = new ArrayList<>();
        List<Object> all = masters.all();
        for (Object master : all) {
            Lane lane = byMaster.computeIfAbsent(master, this::made);
            try {
                found(lane, selfTest.of(master));
            } catch (BackendException e) {
                silence = e;
                silent.add(lane);
            }
        }
        if (silence != null && silent.size() == all.size()) {
            throw silence;
        }
        // Others answer, so those that need them get an answer; who needs these is not kept waiting.
        silent.forEach(Lane::suspect);
    }

    /** What was found may be so no more, and who was master, neither. */
    void lookAgain() {
        List<Object> all = masters.all();
        for (Lane lane : List.copyOf(byMaster.values())) {
            if (!all.contains(lane.master())) {
                remove(lane);
            } else if (untested.contains(lane) || findings.has(lane.name()) || lane.whyNotDeciding() != null) {
                test(lane);
            }
        }
    }

    /** Lets the calls in flight finish, for no longer than a deadline. */
    void close() {
        closed = true;
        CompletableFuture<?>[] idle =
                byMaster.values().stream().map(Lane::whenIdle).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(idle).get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception notIdle) {
            LOG.debug("closing with calls in flight", notIdle);
        }
        byMaster.values().forEach(lane -> lane.failWaiting(RedisFailure.closed()));
    }

    private Lane lane(Object master) {
        Lane lane = byMaster.get(master);
        return lane != null
                ? lane
                : byMaster.computeIfAbsent(master, found -> {
                    Lane fresh = made(found);
                    watch.execute(() -> test(fresh));
                    return fresh;
                });
    }

    private Lane made(Object master) {
        return new Lane(master, Masters.name(master), monotonic, deadline, onLanes);
    }

    private void remove(Lane lane) {
        byMaster.remove(lane.master(), lane);
        untested.remove(lane);
        findings.remove(lane.name());
        nextTestMicros.remove(lane);
        AwayLog log = awayLogs.remove(lane.name());
        if (log != null) {
            watch.execute(log::end);
        }
    }

    private void test(Lane lane) {
        if (closed || !lane.isClosed()) {
            return;
        }
        untested.remove(lane);
        try {
            found(lane, selfTest.of(lane.master()));
        } catch (BackendException silent) {
            untested.add(lane);
            LOG.debug("{} does not answer its self-test", lane.name(), silent);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    private void found(Lane lane, SelfTest.Found found) {
        findings.set(lane.name(), found.findings());
        lane.tested(found.refusal());
    }

    private AwayLog awayLog(Lane lane) {
        return awayLogs.computeIfAbsent(lane.name(), name -> new AwayLog(name, monotonic, deadlines::after));
    }

    private final class OnLanes implements Lane.Watch {
        @Override
        public void suspect(Lane lane) {
            probe(lane);
        }

        @Override
        public void away(Lane lane) {
            watch.execute(() -> awayLog(lane).set(true));
        }

        @Override
        public void back(Lane lane) {
            watch.execute(() -> {
                if (awayLog(lane).set(false)) {
                    test(lane);
                }
            });
        }

        @Override
        public void refuses(Lane lane) {
            // Not at once each time: errors that come and go would keep Redis busy with tests.
            long now = monotonic.nowMicros();
            long due = Math.max(now, nextTestMicros.getOrDefault(lane, now));
            if (nextTestMicros.merge(lane, due + TEST_PAUSE_MICROS, Math::max) == due + TEST_PAUSE_MICROS) {
                deadlines.after(Duration.of(due - now, ChronoUnit.MICROS), () -> watch.execute(() -> test(lane)));
            }
        }

        @Override
        public void after(Duration pause, Runnable task) {
            deadlines.after(pause, task);
        }
    }

    /** Asks a master that does not answer, one probe at a time, until it does or is no master any more. */
    private void probe(Lane lane) {
        if (closed) {
            return;
        }
        if (lane.isClosed()) {
            lane.endProbing();
            return;
        }
        try {
            if (!masters.all().contains(lane.master())) {
                remove(lane);
                return;
            }
            prober.ask(lane.master(), patience(lane)).whenComplete((result, never) -> {
                if (!closed && result != null) {
                    lane.probed(result);
                }
                deadlines.after(PROBE_PAUSE, () -> probe(lane));
            });
        } catch (RuntimeException e) {
            // Whatever it is (a client that somebody shut down, say): without a next probe the lane would stay shut for
            // ever.
            LOG.debug("a probe could not be sent to {}", lane.name(), e);
            deadlines.after(PROBE_PAUSE, () -> probe(lane));
        }
    }

    /** As long as anybody would wait: whom it answers in time, it is not away for. */
    private Duration patience(Lane lane) {
        Duration longest = lane.longest().compareTo(PROBE_PATIENCE) > 0 ? lane.longest() : PROBE_PATIENCE;
        longest = deadline.compareTo(longest) > 0 ? deadline : longest;
        return longest.compareTo(LONGEST_PROBE) > 0 ? LONGEST_PROBE : longest;
    }
}
