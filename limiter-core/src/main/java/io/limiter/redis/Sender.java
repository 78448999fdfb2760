package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to one master. Only so many are in flight ({@link Window}); the rest waits here, so that who waits too long
 * leaves without having been sent, and so that waiting here (this JVM asks too much) can be told from waiting for Redis (an
 * outage). Thread-safe, without a lock that callers share.
 */
final class Sender {
    /** About what Redis serves within the default deadline; a later call would wait in vain. */
    static final int LONGEST_QUEUE = 2_048;
    /** What ends so late says that this JVM stood still: a long collection, or processors that are taken. */
    static final long STALL_MICROS = 25_000;

    /** Between the beginning of a wait and the sending of its call. */
    private static final long HARDLY_MICROS = 1_000;

    private final String name;
    private final TimeSource time;
    private final @Nullable TimeSource decisionTime;
    private final long deadlineMicros;
    private final BiConsumer<Command, Command.Receiver> transport;
    private final Timer timer;
    final Breaker breaker;
    private final Window window;
    private final Deadlines deadlines;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    /** How many times the queue is to be looked at by the thread that does so now. */
    private final AtomicInteger looks = new AtomicInteger();
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    /** The longest that anybody has waited for this master. */
    volatile long longestMicros;

    private volatile @Nullable BackendException closed;

    /**
     * @param name how messages call the master
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a master that is well answers
     * @param transport sends a command on the master that has its first key; the receiver may be called on any thread
     * @param listener is told how the master is
     */
    Sender(
            String name,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            BiConsumer<Command, Command.Receiver> transport,
            Timer timer,
            Consumer<Breaker.Event> listener) {
        this.name = name;
        this.time = time;
        this.decisionTime = decisionTime;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.transport = transport;
        this.timer = timer;
        this.breaker = new Breaker(name, time, listener);
        this.window = new Window(deadlineMicros);
        this.deadlines = new Deadlines(time, timer, this::expire);
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return inFlight.get() == 0 && waiting.isEmpty();
    }

    /** Sends a call, now or in its turn. Fails it at once when the master is not asked, or too many wait. */
    void send(Call call) {
        BackendException refusal = breaker.whyNotAsked(call.longestMicros);
        if (refusal == null && waitingCount.get() >= LONGEST_QUEUE) {
            refusal = RedisFailure.overloaded(LONGEST_QUEUE + " calls wait already to be sent to " + name);
        }
        if (refusal != null) {
            call.tryFail(Call.State.WAITING, refusal);
            return;
        }
        if (call.longestMicros > longestMicros) {
            longestMicros = call.longestMicros;
        }
        if (waiting.isEmpty() && tryTakePlace()) {
            transmit(call);
            // Its place may be free already, and somebody may have begun to wait for it.
            sendWaiting();
        } else {
            waitingCount.incrementAndGet();
            waiting.add(call);
            sendWaiting();
        }
        if (!call.isBlocking() && !call.isDone()) {
            deadlines.add(call);
        }
        BackendException end = closed;
        if (end != null) {
            // Nobody looks at the queue or at deadlines any more.
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
        while (!call.isTold()) {
            long leftMicros = call.dueMicros - time.nowMicros();
            if (leftMicros > 0 || !expire(call)) {
                // When its time is over and it can't be ended, its answer is being handed over.
                LockSupport.parkNanos(this, leftMicros > 0 ? leftMicros * 1_000 : 100_000);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return call.outcomes();
    }

    /** Fails all that wait to be sent. */
    void failWaiting(BackendException failure) {
        for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
            waitingCount.decrementAndGet();
            call.tryFail(Call.State.WAITING, failure);
        }
    }

    /** Fails all futures: nobody will end them any more. */
    void close(BackendException failure) {
        closed = failure;
        failWaiting(failure);
        deadlines.close(call -> fail(call, failure));
    }

    private static void fail(Call call, BackendException failure) {
        call.tryFail(Call.State.WAITING, failure);
        call.tryFail(Call.State.SENT, failure);
    }

    private boolean tryTakePlace() {
        // Who gets none looks at the queue once more afterwards, so nobody is forgotten for a place taken for a moment.
        if (inFlight.incrementAndGet() <= window.size()) {
            return true;
        }
        inFlight.decrementAndGet();
        return false;
    }

    /**
     * The one place where calls leave the queue and become a command: one call a command. One thread at a time, so that calls
     * which fail while they are being sent do not send one another.
     */
    private void sendWaiting() {
        if (waiting.isEmpty() || looks.getAndIncrement() != 0) {
            return;
        }
        int looked = 1;
        do {
            while (!waiting.isEmpty() && tryTakePlace()) {
                Call call = waiting.poll();
                if (call == null) {
                    inFlight.decrementAndGet();
                } else {
                    waitingCount.decrementAndGet();
                    transmit(call);
                }
            }
            looked = looks.addAndGet(-looked);
        } while (looked != 0);
    }

    /**
     * Sends a call that has a place in flight, unless nobody waits for it any more, or it has used up half its time here: its
     * answer would come too late, and so would that of everybody behind it.
     */
    private void transmit(Call call) {
        long now = time.nowMicros();
        if (now - call.sinceMicros() > call.longestMicros / 2) {
            call.tryFail(Call.State.WAITING, RedisFailure.overloaded("a call was not sent in time"));
        }
        if (!call.trySend(now)) {
            inFlight.decrementAndGet();
            return;
        }
        List<Call> calls = List.of(call);
        try {
            Command command = Command.of(calls, decisionTime);
            transport.accept(command, (reply, failure) -> received(calls, command, reply, failure));
        } catch (Throwable e) {
            // Also an Error: its place in flight must be free again.
            end(call, e);
        }
    }

    private void received(
            List<Call> calls, Command command, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<?> replies =
                failure == null ? command.replies(reply, calls.size()) : Collections.nCopies(calls.size(), failure);
        for (int i = 0; i < calls.size(); i++) {
            end(calls.get(i), replies.get(i));
        }
        sendWaiting();
    }

    /** A call that was sent has its reply, or never will. */
    private void end(Call call, Object replyOrFailure) {
        call.noteReply();
        boolean waitedFor = call.tryEnd(Call.State.SENT);
        if (waitedFor) {
            inFlight.decrementAndGet();
        }
        long tookMicros = time.nowMicros() - call.sinceMicros();
        // Who ends it at its deadline may be late too, when this JVM stands still.
        long lateMicros = tookMicros - call.longestMicros;
        Throwable failure = replyOrFailure instanceof Throwable thrown ? thrown : null;
        Object answer = failure == null ? replyOrFailure : RedisFailure.of(failure);
        if (failure == null || RedisFailure.isAnswer(failure)) {
            answered(tookMicros, waitedFor && lateMicros <= 0);
            if (answer instanceof BackendException error) {
                breaker.noteError(error);
            }
        } else if (waitedFor && lateMicros > STALL_MICROS) {
            answer = RedisFailure.overloaded("this JVM stood still");
        } else if (waitedFor) {
            failWaitingIf(breaker.noteSilence());
        }
        if (waitedFor) {
            call.tell(answer);
        } else if (answer instanceof List<?> reply) {
            call.tellLate(reply);
        }
    }

    private void answered(long tookMicros, boolean inTime) {
        long nowMicros = time.nowMicros();
        lastAnswerMicros = nowMicros;
        if (!inTime) {
            return;
        }
        // Who waits longer than others may be answered by a master that is too slow for those.
        if (tookMicros > deadlineMicros) {
            breaker.noteSlowAnswer();
        } else {
            lastInTimeMicros = nowMicros;
            if (breaker.noteAnswer()) {
                window.reset();
            }
        }
        window.answered(nowMicros, tookMicros, !waiting.isEmpty());
    }

    /**
     * Ends a call whose deadline has passed. What was sent is on its way all the same; what was not, never is. Returns false
     * when it has ended already.
     */
    private boolean expire(Call call) {
        boolean unsent = call.tryEnd(Call.State.WAITING);
        if (unsent) {
            // They come in order and leave about in order, so it is near the front.
            if (waiting.remove(call)) {
                waitingCount.decrementAndGet();
            }
        } else if (call.tryEnd(Call.State.SENT)) {
            inFlight.decrementAndGet();
        } else {
            return false;
        }
        boolean stalled = time.nowMicros() - call.dueMicros > STALL_MICROS;
        Kind kind = stalled ? Kind.OVERLOADED : missed(call, unsent);
        call.tell(RedisFailure.late(kind, call.longest.toMillis()));
        sendWaiting();
        return true;
    }

    /**
     * The call got no answer in time: because the master gives none, or because this JVM asks too much of it. It is the
     * latter when answers still come in the second half of the wait, and either somebody got his in time or there is reason
     * to hope that fewer calls in flight would be answered sooner.
     */
    private Kind missed(Call call, boolean unsent) {
        long waitedMicros = time.nowMicros() - call.sinceMicros();
        long halfway = call.sinceMicros() + waitedMicros / 2;
        boolean others = lastInTimeMicros >= halfway || (!window.isSmallest() && lastAnswerMicros >= halfway);
        // Who waits for a shorter time than others can't say that it is late; the master still has time to answer.
        long leftMicros = deadlineMicros - waitedMicros;
        if (leftMicros <= HARDLY_MICROS) {
            late(!others);
        } else if (!unsent) {
            timer.after(leftMicros, () -> {
                if (!call.isReplied()) {
                    late(!others);
                }
            });
        }
        return others ? Kind.OVERLOADED : Kind.LATE;
    }

    private void late(boolean isSilence) {
        window.late(time.nowMicros());
        if (isSilence) {
            failWaitingIf(breaker.noteSilence());
        }
    }

    /** The master gave no answer to a test; probes find out whether it is away. */
    void suspect() {
        failWaitingIf(breaker.suspect());
    }

    private void failWaitingIf(boolean isSuspectNow) {
        BackendException why = breaker.whyNotDeciding();
        if (isSuspectNow && why != null) {
            failWaiting(why);
        }
    }

    /** What came of a probe: no failure, or one that may be an answer of Redis all the same. */
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
