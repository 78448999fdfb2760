package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * One master and what watches it: it is tested when it appears and when it has recovered, probed while it does not
 * answer, and forgotten when it is no longer a master. Each finding is logged when it appears and when it is resolved;
 * that the master is unreachable (RL-225) and that it has recovered (RL-226) always in pairs, and at most one pair in
 * ten seconds, however often a link flaps. Thread-safe: the lock is for what is logged, never held by a caller.
 */
final class MasterWatch {
    private static final Logger LOG = DiagnosticLog.of(MasterWatch.class);
    private static final long PROBE_PAUSE_MICROS = 100_000;
    /** Longer than callers wait: a master that answers by then is slow, not unreachable. */
    private static final long PROBE_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_PROBE_MICROS = 2_000_000;
    private static final long TEST_PAUSE_MICROS = 1_000_000;
    private static final long LOG_PAUSE_MICROS = 10_000_000;

    final Object master;
    final String name;
    final Sender sender;
    private final Masters masters;
    private final SelfTest selfTest;
    private final TimeSource time;
    private final Duration deadline;
    private final Executor watch;
    private final Consumer<MasterWatch> forget;
    /** Intermittent errors must not keep Redis busy with tests. Further tests wait for the next periodic check. */
    private final Throttle tests;

    private final Throttle outagesLogged;
    /** The reason why its last test had no answer; null if it had one. */
    volatile @Nullable BackendException silence;

    /** Texts by code, of the last test that had an answer. */
    private Map<String, String> findings = Map.of();

    private boolean away;
    private boolean logged;
    private long outages;

    /**
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param watch runs tests, which wait for Redis, and writes to the log, which may be slow: not on the callers' clock
     * @param forget removes it, because it is no longer a master
     */
    MasterWatch(
            Object master,
            SelfTest selfTest,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Executor watch,
            Consumer<MasterWatch> forget) {
        this.master = master;
        this.name = Masters.name(master);
        this.time = time;
        this.tests = new Throttle(time, TEST_PAUSE_MICROS);
        this.outagesLogged = new Throttle(time, LOG_PAUSE_MICROS);
        this.selfTest = selfTest;
        this.masters = selfTest.masters();
        this.deadline = deadline;
        this.watch = watch;
        this.forget = forget;
        this.sender = new Sender(name, time, decisionTime, deadline, masters.areCluster(), masters, this::on);
    }

    private void on(Breaker.Event event) {
        switch (event) {
            case PROBE -> masters.after(0, this::probe);
            case AWAY -> watch.execute(() -> setUnreachable(true));
            case BACK ->
                watch.execute(() -> {
                    if (setUnreachable(false)) {
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
        if (!sender.breaker.isClosed()) {
            return;
        }
        try {
            SelfTest.Found found = selfTest.of(master);
            setFindings(found.findings());
            sender.breaker.noteTested(found.refusal());
            silence = null;
        } catch (BackendException silent) {
            silence = silent;
            LOG.debug("{} does not answer its self-test", name, silent);
        } catch (InterruptedException closing) {
            silence = RedisFailure.closed();
            Thread.currentThread().interrupt();
        }
    }

    /** Tests it again if its findings may have changed. Called periodically on the watch thread. */
    void testAgain(boolean secretsAreDue) {
        if (silence != null
                || !findings().isEmpty()
                || (secretsAreDue && selfTest.checksSecretsOn(master))
                || sender.breaker.whyNotDeciding() != null) {
            test();
        }
    }

    /** Probes a master that does not answer, one probe at a time, until it does or is no longer a master. */
    private void probe() {
        if (sender.breaker.isClosed()) {
            sender.breaker.endProbing();
            return;
        }
        try {
            if (!masters.all().contains(master)) {
                forget.accept(this);
                return;
            }
            sendProbe().thenAccept(finding -> {
                finding.run();
                masters.after(PROBE_PAUSE_MICROS, this::probe);
            });
        } catch (RuntimeException e) {
            // Whatever the reason (for example a client that was shut down): without a next probe it would stay open.
            LOG.debug("a probe could not be sent to {}", name, e);
            masters.after(PROBE_PAUSE_MICROS, this::probe);
        }
    }

    /** Sends a probe, with a longer time-out than callers. Returns what follows from its result. */
    private CompletableFuture<Runnable> sendProbe() {
        // The longest deadline of its callers: if it answers in that time, it is not unreachable.
        long longest = Math.max(sender.longestMicros, deadline.toNanos() / 1_000);
        long patienceMicros = Math.min(LONGEST_PROBE_MICROS, Math.max(PROBE_PATIENCE_MICROS, longest));
        long sentMicros = time.nowMicros();
        CompletableFuture<Runnable> finding = new CompletableFuture<>();
        CompletableFuture<Long> lateness = masters.latenessMicros(patienceMicros);
        Runnable noAnswer = () -> masters.latenessMicros(patienceMicros)
                .thenCombine(lateness, Math::max)
                .thenAccept(lateMicros -> finding.complete(() -> sender.probeLost(lateMicros)));
        masters.run(selfTest.probe(master, Duration.of(patienceMicros, ChronoUnit.MICROS)), (reply, failure) -> {
            long tookMicros = time.nowMicros() - sentMicros;
            if (failure == null || RedisFailure.isAnswer(failure)) {
                finding.complete(() -> sender.probeAnswered(tookMicros));
            } else {
                noAnswer.run();
            }
        });
        masters.after(patienceMicros, () -> {
            if (!finding.isDone()) {
                noAnswer.run();
            }
        });
        return finding;
    }

    /** Replaces the findings by those of the last check, as texts by code. */
    synchronized void setFindings(Map<String, String> found) {
        found.forEach((code, text) -> {
            if (!findings.containsKey(code)) {
                LOG.warn("{} {}: {}", code, name, text);
            }
        });
        findings.keySet().stream()
                .filter(code -> !found.containsKey(code))
                .forEach(code -> LOG.info("{} {}: resolved", code, name));
        findings = Map.copyOf(found);
    }

    /** The current findings, each as one line that begins with its code. */
    synchronized List<String> findings() {
        return findings.entrySet().stream()
                .map(finding -> finding.getKey() + " " + name + ": " + finding.getValue())
                .toList();
    }

    /** Records the state of the master. Returns whether it has changed. */
    synchronized boolean setUnreachable(boolean isUnreachable) {
        if (away == isUnreachable) {
            return false;
        }
        away = isUnreachable;
        outages += isUnreachable ? 1 : 0;
        write();
        return true;
    }

    /** Writes state changes that were held back; called periodically. */
    synchronized void write() {
        if (!away && logged) {
            logged = false;
            LOG.info("RL-226 {} answers again and decides", name);
        } else if (away && !logged && outagesLogged.tryPass()) {
            logged = true;
            LOG.warn(
                    "RL-225 {} does not answer; the failure modes answer at once, without waiting for it, until"
                            + " a probe succeeds{}",
                    name,
                    outages > 1 ? " (" + outages + " outages since this was last logged)" : "");
            outages = 0;
        }
    }

    /** It is no longer a master: others decide. */
    synchronized void end() {
        if (logged) {
            logged = false;
            LOG.info("RL-226 {} is no longer a master; others decide", name);
        }
        away = false;
    }
}
