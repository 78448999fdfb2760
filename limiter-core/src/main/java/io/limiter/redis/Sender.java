package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to one master: at once if nothing is in flight; later calls are grouped into the next command, which is
 * sent when the reply comes. The number of calls in flight is limited ({@link Window}); the rest waits here, so that a
 * call that waits too long is never sent, and so that waiting here (an overload) can be distinguished from waiting for
 * Redis (an outage). Thread-safe, without a lock that callers share.
 */
final class Sender {
    /** About as many as Redis serves within the default deadline; further calls would wait in vain. */
    static final int LONGEST_QUEUE = 2_048;
    /** A call that ends this late shows that this JVM was stalled: by a long garbage collection, or lack of processors. */
    static final long STALL_MICROS = 25_000;

    /** The time between the beginning of a wait and the sending of its call. */
    private static final long SEND_TOLERANCE_MICROS = 1_000;

    private final String name;
    private final TimeSource time;
    private final long deadlineMicros;
    private final Timer timer;
    private final LongFunction<CompletableFuture<Long>> lateness;
    final Breaker breaker;
    private final Window window;
    private final Outbox outbox;
    private final Deadlines deadlines;
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    /** The longest wait of any call to this master. */
    volatile long longestMicros;

    private volatile @Nullable BackendException closed;

    /**
     * @param name the name of the master in messages
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param bySlot whether the keys of a command must share a slot
     * @param transport sends a command on the master that has its first key; the receiver may be called on any thread
     * @param lateness returns how late the threads run on which answers arrive, in microseconds, measured for at most
     *     the given time
     * @param listener gets the events of the master's state
     */
    Sender(
            String name,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            boolean bySlot,
            BiConsumer<Command, Command.Receiver> transport,
            Timer timer,
            LongFunction<CompletableFuture<Long>> lateness,
            Consumer<Breaker.Event> listener) {
        this.name = name;
        this.time = time;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.timer = timer;
        this.lateness = lateness;
        this.breaker = new Breaker(name, time, listener);
        this.window = new Window(deadlineMicros);
        this.outbox = new Outbox(
                time,
                window,
                new Flights(deadlineMicros),
                bySlot,
                calls -> Command.of(calls, decisionTime),
                transport,
                this::ended);
        this.deadlines = new Deadlines(time, timer, this::expire);
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return outbox.isIdle();
    }

    /** Sends a call, now or in its turn. Fails it at once if no calls are sent to the master, or too many wait. */
    void send(Call call) {
        if (isAccepted(call)) {
            outbox.add(call);
            watch(call);
        }
    }

    /** The same for several calls, which leave in one command where they can. */
    void sendTogether(List<Call> calls) {
        List<Call> accepted = calls.stream().filter(this::isAccepted).toList();
        outbox.addTogether(accepted);
        accepted.forEach(this::watch);
    }

    private boolean isAccepted(Call call) {
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
            deadlines.add(call);
        }
        BackendException end = closed;
        if (end != null) {
            // The queue and the deadlines are not checked any more.
            fail(call, end);
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

    /** Fails all calls that wait to be sent. */
    void failWaiting(BackendException failure) {
        outbox.removeAll(call -> call.tryFail(Call.State.WAITING, failure));
    }

    /** Fails all futures, which nothing else would end. */
    void close(BackendException failure) {
        closed = failure;
        failWaiting(failure);
        deadlines.close(call -> fail(call, failure));
    }

    private static void fail(Call call, BackendException failure) {
        call.tryFail(Call.State.WAITING, failure);
        call.tryFail(Call.State.SENT, failure);
    }

    /** A call that was sent has its reply, or will not get one. Returns what to do for its caller. */
    private Runnable ended(Call call, Object replyOrFailure) {
        call.noteReply();
        boolean waitedFor = call.tryEnd(Call.State.SENT);
        if (waitedFor) {
            outbox.noteEnd();
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
        } else if (waitedFor && call.isFirstSilence()) {
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
            outbox.noteEnd();
            call.endFlight();
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
            timer.after(leftMicros, () -> {
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
        if (isSilence && call.isFirstSilence()) {
            lateness.apply(deadlineMicros).thenAccept(lateMicros -> {
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
            failWaiting(why);
        }
    }

    /** The result of a probe: no failure, or one that may still be an answer of Redis. */
    void probed(@Nullable BackendException failure, boolean isAnswer, long tookMicros) {
        if (isAnswer && tookMicros > deadlineMicros) {
            breaker.noteSlowProbe(tookMicros);
        } else if (isAnswer) {
            if (breaker.noteAnswer()) {
                window.reset();
            }
        } else if (failure == null || failure.kind() != Kind.OVERLOADED) {
            breaker.noteLostProbe();
        }
    }
}
