package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The connection to one master: accepts calls, hands over their answers, and ends those that get none in time. Its
 * {@link Outbox} queues the calls and sends them in commands, its {@link CongestionWindow} bounds what is on its way,
 * its {@link Breaker} knows whether the master can be asked at all. The calls beyond the window wait here, so that one
 * that waits too long is never sent, and so that waiting here (an overload) can be distinguished from waiting for Redis
 * (an outage).
 *
 * <p>Thread-safe, without a lock that callers share. A call may be ended by its reply, by its deadline or by an outage
 * of the master. The compare-and-set of its own state decides which of them does; that one removes it from the queue or
 * frees its place in the window, once, and then delivers its answer, which a volatile field of the call publishes. One
 * thread at a time sends from the queue; others only make it look again. What answers and silences teach is
 * written under the lock of the window or of the breaker, each for itself, and read without it in volatile fields. No
 * caller's code runs under a lock.
 */
final class Sender {
    /** About as many as Redis serves within the default deadline; further calls would wait in vain. */
    static final int LONGEST_QUEUE = 2_048;
    /** A call that ends this late shows that this JVM was stalled: by a long garbage collection, or lack of processors. */
    static final long STALL_MICROS = 25_000;

    /** The time between the beginning of a wait and the sending of its call. */
    private static final long SEND_TOLERANCE_MICROS = 1_000;

    private static final long LEAST_BETWEEN_SWEEPS_MICROS = 1_000;
    /** How long at most a call that is done is kept. */
    private static final long MOST_BETWEEN_SWEEPS_MICROS = 100_000;

    private final String name;
    private final TimeSource time;
    private final long deadlineMicros;
    private final Transport transport;
    final Breaker breaker;
    private final CongestionWindow window;
    private final Outbox outbox;
    /** The calls that have no waiting thread to end them at their deadline: one sweep does it for all of them. */
    private final Queue<Call> futures = new ConcurrentLinkedQueue<>();

    private final AtomicLong nextSweepMicros = new AtomicLong(Long.MAX_VALUE);
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    /** The longest wait of any call to this master. */
    volatile long longestMicros;

    private volatile boolean closed;

    /**
     * @param name the name of the master in messages
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param bySlot whether the keys of a command must share a slot
     * @param listener gets the events of the master's state
     */
    Sender(
            String name,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            boolean bySlot,
            Transport transport,
            Consumer<Breaker.Event> listener) {
        this.name = name;
        this.time = time;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.transport = transport;
        this.breaker = new Breaker(name, time, listener);
        this.window = new CongestionWindow(deadlineMicros);
        this.outbox = new Outbox(time, decisionTime, window, bySlot, transport, this::ended);
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return window.isEmpty() && outbox.waiting() == 0;
    }

    /**
     * Sends calls, now or in their turn; several leave in one command where they can. Those that the master can't be
     * asked, or for which too many wait, fail at once.
     */
    void send(List<Call> calls) {
        List<Call> accepted = new ArrayList<>(calls.size());
        for (Call call : calls) {
            if (acceptOrFail(call)) {
                accepted.add(call);
            }
        }
        outbox.add(accepted);
        accepted.forEach(this::watch);
    }

    private boolean acceptOrFail(Call call) {
        BackendException refusal = breaker.whyNotAsked(call.longestMicros);
        if (refusal == null && outbox.waiting() >= LONGEST_QUEUE) {
            refusal = RedisFailure.overloaded(LONGEST_QUEUE + " calls already wait to be sent to " + name);
        }
        if (refusal != null) {
            call.tryFail(Call.State.WAITING, refusal);
            return false;
        }
        if (call.longestMicros > longestMicros) {
            longestMicros = call.longestMicros;
        }
        return true;
    }

    private void watch(Call call) {
        if (!call.isBlocking() && !call.isDone()) {
            futures.add(call);
            sweepAt(call.dueMicros);
        }
        if (closed) {
            // The queue and the deadlines are not checked any more.
            failClosed(call);
        }
    }

    /**
     * Waits for the answer to a call that this thread has made and sent here. An interrupt does not shorten that and is kept.
     *
     * @throws BackendException if there is none within its deadline
     */
    List<LimitOutcome> await(Call call) {
        boolean interrupted = false;
        while (!call.isDelivered()) {
            long leftMicros = call.dueMicros - time.nowMicros();
            if (leftMicros > 0 || !expire(call)) {
                // If its time is over and it can't be ended, its answer is being handed over.
                LockSupport.parkNanos(this, leftMicros > 0 ? leftMicros * 1_000 : 100_000);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return call.outcomes();
    }

    /** Fails all futures, which nothing else would end. */
    void close() {
        closed = true;
        outbox.failAll(RedisFailure.closed());
        futures.forEach(Sender::failClosed);
    }

    private static void failClosed(Call call) {
        BackendException failure = RedisFailure.closed();
        call.tryFail(Call.State.WAITING, failure);
        call.tryFail(Call.State.SENT, failure);
    }

    /** A call that was sent has its reply, or will not get one. Returns what to do for its caller. */
    private Runnable ended(Call call, Object replyOrFailure) {
        call.noteReply();
        boolean waitedFor = call.tryEnd(Call.State.SENT);
        if (waitedFor) {
            window.freePlace();
        }
        long tookMicros = time.nowMicros() - call.sinceMicros();
        // The thread that ends it at its deadline may be late too, if this JVM is stalled.
        long lateMicros = tookMicros - call.longestMicros;
        Throwable failure = replyOrFailure instanceof Throwable thrown ? thrown : null;
        Object outcome = failure == null ? replyOrFailure : RedisFailure.of(failure);
        if (failure == null || RedisFailure.isAnswer(failure)) {
            answered(tookMicros, waitedFor && lateMicros <= 0);
            if (outcome instanceof BackendException error) {
                breaker.noteError(error);
            }
        } else if (waitedFor && lateMicros > STALL_MICROS) {
            outcome = RedisFailure.stalled(lateMicros);
        } else if (waitedFor && call.flight().claimSilence()) {
            failWaitingIf(breaker.noteSilence());
        }
        Object answer = outcome;
        return waitedFor ? () -> call.deliver(answer) : () -> call.deliverLate(answer);
    }

    private void answered(long tookMicros, boolean inTime) {
        long nowMicros = time.nowMicros();
        lastAnswerMicros = nowMicros;
        if (!inTime) {
            return;
        }
        // A call with a longer deadline may get its answer from a master that is too slow for others.
        if (tookMicros > deadlineMicros) {
            breaker.noteSlowAnswer();
        } else {
            lastInTimeMicros = nowMicros;
            if (breaker.noteAnswer()) {
                window.reset();
            }
        }
        window.answered(nowMicros, tookMicros, outbox.waiting() > 0);
    }

    /**
     * Ends a call after its deadline. If it was sent, it may still run; if not, it never does. Returns false if it has
     * ended already.
     */
    private boolean expire(Call call) {
        boolean unsent = call.tryEnd(Call.State.WAITING);
        if (unsent) {
            outbox.remove(call);
        } else if (call.tryEnd(Call.State.SENT)) {
            window.freePlace();
            call.flight().end();
        } else {
            return false;
        }
        long lateMicros = time.nowMicros() - call.dueMicros;
        call.deliver(
                lateMicros > STALL_MICROS
                        ? RedisFailure.stalled(lateMicros)
                        : RedisFailure.late(missed(call, unsent), call.longest.toMillis()));
        outbox.send();
        return true;
    }

    /**
     * The call got no answer in time: because of an outage, or because of an overload. It is an overload if answers
     * still came in the second half of the wait, and either another call got its answer in time or fewer calls in
     * flight could be answered sooner.
     */
    private Kind missed(Call call, boolean unsent) {
        long waitedMicros = time.nowMicros() - call.sinceMicros();
        long halfway = call.sinceMicros() + waitedMicros / 2;
        boolean others = lastInTimeMicros >= halfway || (!window.isSmallest() && lastAnswerMicros >= halfway);
        // A call with a shorter deadline than others does not show that the master is late.
        long leftMicros = deadlineMicros - waitedMicros;
        if (leftMicros <= SEND_TOLERANCE_MICROS) {
            late(call, !others && !unsent);
        } else if (!unsent) {
            transport.after(leftMicros, () -> {
                if (!call.isReplied()) {
                    late(call, !others);
                }
            });
        }
        return others ? Kind.OVERLOADED : Kind.LATE;
    }

    /** Only calls that were sent and are lost count against the master, once for each command. */
    private void late(Call call, boolean isSilence) {
        window.late(time.nowMicros());
        if (isSilence && call.flight().claimSilence()) {
            transport.latenessMicros(deadlineMicros).thenAccept(lateMicros -> {
                // All arrived answers have been read by now. If that took long, the master was not slow.
                if (!call.isReplied() && lateMicros <= STALL_MICROS) {
                    failWaitingIf(breaker.noteSilence());
                }
            });
        }
    }

    /** The master gave no answer to a test; probes find out whether it is unreachable. */
    void suspect() {
        failWaitingIf(breaker.suspect());
    }

    private void failWaitingIf(boolean isSuspectNow) {
        BackendException why = breaker.whyNotDeciding();
        if (isSuspectNow && why != null) {
            outbox.failAll(why);
        }
    }

    /** The master answered a probe, perhaps with an error. */
    void probeAnswered(long tookMicros) {
        if (tookMicros > deadlineMicros) {
            breaker.noteSlowProbe(tookMicros);
        } else if (breaker.noteAnswer()) {
            window.reset();
        }
    }

    /**
     * A probe had no answer. That counts only if the threads that read answers get to run: otherwise this JVM is short
     * of processors, which is not an outage of Redis.
     *
     * @param lateMicros how late these threads ran
     */
    void probeLost(long lateMicros) {
        if (lateMicros <= STALL_MICROS) {
            breaker.noteLostProbe();
        }
    }

    private void sweepAt(long micros) {
        long now = time.nowMicros();
        long due = Math.max(now + LEAST_BETWEEN_SWEEPS_MICROS, Math.min(micros, now + MOST_BETWEEN_SWEEPS_MICROS));
        if (due < nextSweepMicros.getAndAccumulate(due, Math::min)) {
            transport.after(due - now, () -> sweep(due));
        }
    }

    private void sweep(long dueMicros) {
        // A sweep that another one has overtaken does nothing; otherwise each would schedule another one for ever.
        if (!nextSweepMicros.compareAndSet(dueMicros, Long.MAX_VALUE)) {
            return;
        }
        long now = time.nowMicros();
        futures.removeIf(call -> {
            boolean isOver = call.isDone() || call.dueMicros <= now;
            if (isOver) {
                expire(call);
            }
            return isOver;
        });
        futures.stream().mapToLong(call -> call.dueMicros).min().ifPresent(this::sweepAt);
    }
}
