package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * One master and what watches it: it is tested when it appears and when it has recovered, probed while it does not
 * answer, and forgotten when it is no longer a master. Thread-safe.
 */
final class MasterWatch {
    private static final Logger LOG = DiagnosticLog.of(MasterWatch.class);
    private static final TimeSource TIME = TimeSource.system();
    private static final long PROBE_PAUSE_MICROS = 100_000;
    /** Longer than callers wait: a master that answers by then is slow, not unreachable. */
    private static final long PROBE_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_PROBE_MICROS = 2_000_000;
    private static final long TEST_PAUSE_MICROS = 1_000_000;

    final Object master;
    final Sender sender;
    final MasterLog log;
    private final Masters masters;
    private final SelfTest selfTest;
    private final Duration deadline;
    private final Executor watch;
    private final Consumer<MasterWatch> forget;
    /** Intermittent errors must not keep Redis busy with tests. Further tests wait for the next periodic check. */
    private final Throttle tests = new Throttle(TIME, TEST_PAUSE_MICROS);
    /** The reason why its last test had no answer. */
    private volatile @Nullable BackendException silence;

    /**
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param watch runs tests, which wait for Redis, and writes to the log, which may be slow: not on the callers' clock
     * @param forget removes it, because it is no longer a master
     */
    MasterWatch(
            Object master,
            SelfTest selfTest,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Executor watch,
            Consumer<MasterWatch> forget) {
        String name = Masters.name(master);
        this.master = master;
        this.selfTest = selfTest;
        this.masters = selfTest.masters();
        this.deadline = deadline;
        this.watch = watch;
        this.forget = forget;
        this.log = new MasterLog(name, TIME);
        this.sender = new Sender(name, TIME, decisionTime, deadline, masters.areCluster(), masters, this::on);
    }

    private void on(Breaker.Event event) {
        switch (event) {
            case PROBE -> masters.after(0, this::probe);
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

    /** The reason why its last test had no answer; null if it had one. */
    @Nullable
    BackendException silence() {
        return silence;
    }

    void test() {
        if (!sender.breaker.isClosed()) {
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

    /** Tests it again if its findings may have changed. Called periodically on the watch thread. */
    void testAgain(boolean secretsAreDue) {
        if (silence != null
                || !log.findings().isEmpty()
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
            LOG.debug("a probe could not be sent to {}", Masters.name(master), e);
            masters.after(PROBE_PAUSE_MICROS, this::probe);
        }
    }

    /** Sends a probe, with a longer time-out than callers. Returns what it says about the master. */
    private CompletableFuture<Runnable> sendProbe() {
        // The longest deadline of its callers: if it answers in that time, it is not unreachable.
        long longest = Math.max(sender.longestMicros, deadline.toNanos() / 1_000);
        long patienceMicros = Math.min(LONGEST_PROBE_MICROS, Math.max(PROBE_PATIENCE_MICROS, longest));
        long sentMicros = TIME.nowMicros();
        CompletableFuture<Runnable> finding = new CompletableFuture<>();
        CompletableFuture<Long> lateness = masters.latenessMicros(patienceMicros);
        Runnable noAnswer = () -> masters.latenessMicros(patienceMicros)
                .thenCombine(lateness, Math::max)
                .thenAccept(lateMicros -> finding.complete(() -> sender.probeLost(lateMicros)));
        masters.run(selfTest.probe(master, Duration.of(patienceMicros, ChronoUnit.MICROS)), (reply, failure) -> {
            long tookMicros = TIME.nowMicros() - sentMicros;
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
}
