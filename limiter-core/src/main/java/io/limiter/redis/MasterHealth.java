package io.limiter.redis;

import io.limiter.Backend.Health.State;
import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Judges one master by its answers and silences: a circuit breaker. Closed while it answers; {@value #SILENCES} calls in
 * a row without an answer in time make it suspect: then no caller waits, and one probe at a time, with a longer
 * time-out than callers, finds the reason. A probe without an answer means an outage; a late answer does not, and one
 * in time closes the breaker. An error reply from Redis counts as an answer, because it costs no time.
 *
 * <p>Thread-safe, as {@link MasterLink} describes.
 */
final class MasterHealth {
    private static final Logger LOG = LoggerFactory.getLogger(MasterHealth.class);
    /** One may be lost by chance; three in a row cost a caller three deadlines. */
    static final int SILENCES = 3;
    /** A call that ends this late shows that this JVM was stalled: by a long garbage collection, or lack of processors. */
    static final long STALL_MICROS = 25_000;
    /** How long probes must stay unanswered before a master is considered unreachable. */
    private static final long AWAY_AFTER_MICROS = 250_000;

    /** Many callers ask together, and more would not reach a master sooner. */
    private static final long RENEWAL_PAUSE_MICROS = 1_000_000;

    private static final long PROBE_PAUSE_MICROS = 100_000;
    private static final long TEST_PAUSE_MICROS = 1_000_000;
    /** A probe waits longer than callers: a master that answers by then is slow, not unreachable. */
    private static final long LEAST_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_PATIENCE_MICROS = 2_000_000;
    /** The time between the beginning of a wait and the sending of its call. */
    private static final long SEND_TOLERANCE_MICROS = 1_000;

    final SelfTest test;
    final CongestionWindow window;
    private final Transport transport;
    private final TimeSource time;
    private final long deadlineMicros;
    private final Executor watch;
    private final Consumer<BackendException> failWaiting;
    private final Runnable forget;
    /** Intermittent errors must not keep Redis busy with tests. Further tests wait for the next periodic check. */
    private final Throttle tests;
    /** The reasons of an outage, made once: every call gets one. */
    private final BackendException suspect;

    private final BackendException away;

    private final Object renewal = new Object();
    /** When the connections to it were last replaced. Guarded by renewal. */
    private long renewedMicros = Long.MIN_VALUE / 2;

    // Written under the lock.
    private boolean probing;
    private long suspectSinceMicros;
    /** In a row. With {@value #SILENCES} the breaker is open. */
    private volatile int silences;
    /** No probe had an answer either. */
    private volatile boolean isAway;
    /** How long the answer of a master that is too slow took; the largest value if it did not answer. */
    private volatile long slowMicros = Long.MAX_VALUE;

    /** The reason why the last test had no answer, or has to be repeated; null if it had one. */
    @Nullable
    volatile BackendException silence;

    // Written by any thread.
    /** The error with which it refuses to decide, as far as is known. */
    private volatile @Nullable BackendException refusal;
    /**
     * Until when no call is sent because a login was refused: each would open a connection. Only a test begins that, since one call
     * may have been refused by another server of the cluster.
     */
    private volatile long nextLoginMicros = Long.MIN_VALUE;
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    /** The longest wait of any call to this master. */
    volatile long longestMicros;

    /**
     * A master that is believed to answer; the parameters are those of {@link MasterLink}.
     *
     * @param failWaiting fails the calls that wait for it
     */
    MasterHealth(
            SelfTest test,
            TimeSource time,
            Duration deadline,
            Executor watch,
            Consumer<BackendException> failWaiting,
            Runnable forget) {
        this.test = test;
        this.transport = test.transport;
        this.time = time;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.window = new CongestionWindow(deadlineMicros, transport.isCluster());
        this.watch = watch;
        this.failWaiting = failWaiting;
        this.forget = forget;
        this.tests = new Throttle(time::nowMicros, TEST_PAUSE_MICROS);
        this.suspect = RedisFailure.suspect(test.name);
        this.away = RedisFailure.away(test.name);
    }

    boolean isClosed() {
        return silences < SILENCES;
    }

    /** The state of the master, as far as is known. */
    State state() {
        if (isClosed()) {
            return refusal == null ? State.ANSWERS : State.REFUSES;
        }
        return isAway ? State.AWAY : State.SUSPECT;
    }

    /** The reason why it decides no calls; null while it does. */
    @Nullable
    BackendException whyNotDeciding() {
        if (isClosed()) {
            return refusal;
        }
        return isAway ? away : suspect;
    }

    /**
     * The reason why a call that waits this long is not sent; null if it is. A call that waits long enough is sent to a
     * slow master; after a refused login none is sent for a tenth of a second.
     */
    @Nullable
    BackendException refusal(long waitMicros) {
        BackendException refused = refusal;
        if (refused != null && time.nowMicros() < nextLoginMicros) {
            return refused;
        }
        return isClosed() || waitMicros / 2 > slowMicros ? null : whyNotDeciding();
    }

    /** An answer came: whether its caller still waited. */
    void noteAnswer(long nowMicros, long tookMicros, boolean inTime) {
        lastAnswerMicros = nowMicros;
        if (inTime) {
            // A call with a longer deadline may get its answer from a master that is too slow for others, but not
            // silent.
            boolean isPrompt = tookMicros <= deadlineMicros;
            if (isPrompt) {
                lastInTimeMicros = nowMicros;
            }
            if (silences > 0) {
                endSilence(isPrompt);
            }
            window.answered(nowMicros, tookMicros, window.waiting() > 0);
        }
    }

    /** An answer ends the row of silences, and one within the default deadline closes the breaker. */
    private void endSilence(boolean isPrompt) {
        synchronized (this) {
            boolean wasClosed = isClosed();
            if (!wasClosed && !isPrompt) {
                return;
            }
            silences = 0;
            isAway = false;
            if (wasClosed) {
                return;
            }
        }
        window.reset();
        watch.execute(() -> {
            if (test.noteUnreachable(false)) {
                test();
            }
        });
    }

    /** It answers a call with an error. A test finds out whether it refuses all calls. */
    void noteError(BackendException error) {
        if (nextLoginMicros != Long.MIN_VALUE && RedisFailure.isLogin(error)) {
            nextLoginMicros = time.nowMicros() + PROBE_PAUSE_MICROS;
        }
        if (refusal == null && RedisFailure.isRefusal(error)) {
            refusal = error;
            if (tests.tryPass()) {
                watch.execute(this::test);
            }
        }
    }

    /**
     * Commands had no answer in time, or a test had none, which counts as {@value #SILENCES} of them. After that many in a
     * row, probes find out the reason.
     *
     * @param more how many
     */
    void noteSilences(int more) {
        // In one step: an answer between the last silence and the suspicion ends the row.
        synchronized (this) {
            boolean wasClosed = isClosed();
            silences = Math.min(SILENCES, silences + more);
            if (isClosed() || !wasClosed) {
                return;
            }
            suspectSinceMicros = time.nowMicros();
            slowMicros = Long.MAX_VALUE;
            if (!probing) {
                probing = true;
                transport.after(0, this::probe);
            }
        }
        failWaiting.accept(suspect);
    }

    /**
     * A call got no answer in time: because of an outage, or because of an overload. It is an overload if answers
     * still came in the second half of the wait, and either another call got its answer in time or fewer calls on
     * their way could be answered sooner.
     */
    Kind noteMissed(Call call, boolean unsent) {
        long waitedMicros = time.nowMicros() - call.sinceMicros();
        long halfway = call.sinceMicros() + waitedMicros / 2;
        boolean others = lastInTimeMicros >= halfway || (!window.isSmallest() && lastAnswerMicros >= halfway);
        // A call with a shorter deadline than others does not show that the master is late.
        long leftMicros = deadlineMicros - waitedMicros;
        if (leftMicros <= SEND_TOLERANCE_MICROS) {
            noteLate(call, !others && !unsent);
        } else if (!unsent) {
            transport.after(leftMicros, () -> {
                if (!call.isReplied()) {
                    noteLate(call, !others);
                }
            });
        }
        return others ? Kind.OVERLOADED : Kind.LATE;
    }

    /** Only calls that were sent and are lost count against the master, once for each command. */
    private void noteLate(Call call, boolean isSilence) {
        window.late(time.nowMicros());
        if (isSilence && call.claimSilence()) {
            transport.latenessMicros(deadlineMicros).thenAccept(lateMicros -> {
                // All arrived answers have been read by now. If that took long, the master was not slow.
                if (!call.isReplied() && lateMicros <= STALL_MICROS) {
                    noteSilences(1);
                }
            });
        }
    }

    /** Probes a master that does not answer, one probe at a time, until it does or is no longer a master. */
    private void probe() {
        synchronized (this) {
            probing = !isClosed();
            if (!probing) {
                return;
            }
        }
        try {
            if (transport.masters().contains(test.master)) {
                sendProbe();
            } else {
                forget.run();
            }
        } catch (RuntimeException e) {
            // Whatever the reason (for example a client that was shut down): without a next probe it would stay open.
            LOG.debug("a probe could not be sent to {}", test.name, e);
            transport.after(PROBE_PAUSE_MICROS, this::probe);
        }
    }

    /** Asks once. If it answers in the longest time of its callers, it is not unreachable. */
    private void sendProbe() {
        long patienceMicros = Math.min(
                LONGEST_PATIENCE_MICROS, Math.max(LEAST_PATIENCE_MICROS, Math.max(longestMicros, deadlineMicros)));
        long sentMicros = time.nowMicros();
        CompletableFuture<Runnable> finding = new CompletableFuture<>();
        CompletableFuture<Long> lateness = transport.latenessMicros(patienceMicros);
        Runnable noAnswer = () -> transport
                .latenessMicros(patienceMicros)
                .thenCombine(lateness, Math::max)
                .thenAccept(lateMicros -> finding.complete(() -> noteProbeLost(lateMicros)));
        CompletableFuture<Void> noted = finding.thenAccept(Runnable::run);
        transport.probe(test.master, test.probe(patienceMicros), (reply, failure) -> {
            long tookMicros = time.nowMicros() - sentMicros;
            if (failure == null || RedisFailure.isAnswer(failure)) {
                finding.complete(() -> noteProbeAnswer(tookMicros));
            } else {
                noAnswer.run();
            }
        });
        transport.after(patienceMicros, noAnswer);
        noted.thenRun(() -> transport.after(PROBE_PAUSE_MICROS, this::probe));
    }

    /** It answered a probe, perhaps with an error. */
    void noteProbeAnswer(long tookMicros) {
        if (tookMicros <= deadlineMicros) {
            endSilence(true);
            return;
        }
        synchronized (this) {
            slowMicros = tookMicros;
            isAway = false;
        }
    }

    /**
     * A probe had no answer. That counts only if the threads that read answers are not late: otherwise this JVM is short
     * of processors, which is not an outage of Redis.
     */
    void noteProbeLost(long lateMicros) {
        if (lateMicros > STALL_MICROS) {
            return;
        }
        synchronized (this) {
            slowMicros = Long.MAX_VALUE;
            // A connection that breaks and is restored is not an outage.
            boolean isOver = time.nowMicros() - suspectSinceMicros >= AWAY_AFTER_MICROS;
            if (isOver && !isClosed() && !isAway) {
                isAway = true;
                watch.execute(() -> test.noteUnreachable(true));
            }
        }
    }

    /**
     * It has replied that it is a replica, or that it loads its data, to what was sent at that time: its address may lead to another
     * server by now. Replaces the connections to it, at most once a second. Returns whether what is sent now takes a later one.
     */
    boolean renew(long sentMicros) {
        synchronized (renewal) {
            long now = time.nowMicros();
            if (now - renewedMicros >= RENEWAL_PAUSE_MICROS && transport.renew(test.master)) {
                // Before others see that it is done.
                renewedMicros = now;
            }
            return renewedMicros > sentMicros;
        }
    }

    /** Tests the master, unless probes do; once more by another connection, if its answers were those of a replica. */
    void test() {
        if (isClosed()) {
            try {
                long sentMicros = time.nowMicros();
                BackendException found = test.run();
                boolean isReplica = RedisFailure.isOfReplica(found)
                        || test.findings().stream().anyMatch(line -> line.startsWith("RL-203"));
                BackendException now = isReplica && renew(sentMicros) ? test.run() : found;
                nextLoginMicros = now != null && RedisFailure.isLogin(now)
                        ? time.nowMicros() + PROBE_PAUSE_MICROS
                        : Long.MIN_VALUE;
                refusal = now;
                silence = null;
            } catch (BackendException silent) {
                silence = silent;
                LOG.debug("{} does not answer its self-test", test.name, silent);
            }
        }
    }

    /** Its connection has closed by itself: a test finds out whether it answers, also when nobody asks. */
    void noteLost() {
        silence = away;
        if (tests.tryPass()) {
            watch.execute(() -> lookAgain(false));
        }
    }

    /** Writes what was held back, and tests again if the findings may have changed. Called periodically, and by {@link #noteLost}. */
    void lookAgain(boolean secretsAreDue) {
        test.write();
        if (silence != null
                || !test.findings().isEmpty()
                || (secretsAreDue && test.checksSecrets())
                || whyNotDeciding() != null) {
            test();
            if (silence != null) {
                noteSilences(SILENCES);
            }
        }
    }
}
