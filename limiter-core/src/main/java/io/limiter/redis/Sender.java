package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
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

    /** Between the beginning of a wait and the sending of its call; and between two sweeps. */
    private static final long HARDLY_MICROS = 1_000;
    /** So long at most calls that are done are kept in the list of those with a deadline. */
    private static final long MOST_BETWEEN_SWEEPS_MICROS = 100_000;

    /** Sends commands. */
    interface Transport {
        /**
         * Sends a command, on the master that has its first key, unless nobody wants it any more.
         *
         * @param then gets the reply or why there is none, on any thread, also on this one
         */
        void run(
                Command command,
                Duration longest,
                BooleanSupplier isWanted,
                BiConsumer<@Nullable List<Object>, @Nullable Throwable> then);
    }

    /** Who is told how the master is. */
    interface Watch {
        /** Somebody should find out how it is, until it answers; then {@link #endProbing}. */
        void suspect(Sender sender);

        /** It is away. */
        void away(Sender sender);

        /** It answers in time again. */
        void back(Sender sender);

        /** It refuses a call: somebody should find out whether it refuses all. */
        void refuses(Sender sender);

        /** Runs a task after some time. */
        void after(long micros, Runnable task);
    }

    private final Object master;
    private final String name;
    private final TimeSource time;
    private final @Nullable TimeSource decisionTime;
    private final long deadlineMicros;
    private final Transport transport;
    private final Watch watch;
    private final Breaker breaker;
    private final Window window;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    /** How many times the queue is to be looked at again by the thread that does so now. */
    private final AtomicInteger looks = new AtomicInteger();
    /** The calls of futures, which somebody has to end at their deadline. */
    private final Queue<Call> withDeadline = new ConcurrentLinkedQueue<>();

    private final AtomicLong nextSweepMicros = new AtomicLong(Long.MAX_VALUE);
    /** Whether somebody is finding out how the master is. */
    private final AtomicBoolean probing = new AtomicBoolean();
    /** In time or late. */
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    private volatile long lastInTimeMicros = Long.MIN_VALUE;
    private volatile long longestMicros;

    /**
     * A sender.
     *
     * @param master as {@link Masters} knows it
     * @param name how messages call it
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a master that is well answers
     */
    Sender(
            Object master,
            String name,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Transport transport,
            Watch watch) {
        this.master = master;
        this.name = name;
        this.time = time;
        this.decisionTime = decisionTime;
        this.deadlineMicros = deadline.toNanos() / 1_000;
        this.transport = transport;
        this.watch = watch;
        this.breaker = new Breaker(name);
        this.window = new Window(deadlineMicros);
    }

    Object master() {
        return master;
    }

    String name() {
        return name;
    }

    Breaker breaker() {
        return breaker;
    }

    /** The longest that anybody has waited for this master. */
    long longestMicros() {
        return longestMicros;
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return inFlight.get() == 0 && waiting.isEmpty();
    }

    /** Sends a call, now or in its turn. Fails it at once when the master is not asked, or too many wait. */
    void send(Call call) {
        BackendException refusal = breaker.whyNotAsked(call.longestMicros());
        if (refusal == null && waitingCount.get() >= LONGEST_QUEUE) {
            refusal = RedisFailure.overloaded(LONGEST_QUEUE + " calls wait already to be sent to " + name);
        }
        if (refusal != null) {
            call.tryFail(Call.State.WAITING, refusal);
            return;
        }
        if (call.longestMicros() > longestMicros) {
            longestMicros = call.longestMicros();
        }
        if (waiting.isEmpty() && tryTakePlace()) {
            transmit(call);
        } else {
            waitingCount.incrementAndGet();
            waiting.add(call);
            sendWaiting();
        }
        if (!call.isBlocking() && !call.isDone()) {
            withDeadline.add(call);
            sweepAt(call.dueMicros());
        }
    }

    /**
     * Waits for the answer to a call that this thread has made and sent here.
     *
     * @throws BackendException if there is none within its deadline
     */
    List<LimitOutcome> await(Call call) {
        boolean interrupted = call.park(time);
        while (!call.isTold()) {
            if (!expire(call)) {
                // Its answer is being handed over.
                Thread.onSpinWait();
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
        failWaiting(failure);
        withDeadline.forEach(call -> call.tryFail(Call.State.SENT, failure));
    }

    private boolean tryTakePlace() {
        while (true) {
            int taken = inFlight.get();
            if (taken >= window.size()) {
                return false;
            }
            if (inFlight.compareAndSet(taken, taken + 1)) {
                return true;
            }
        }
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
        if (now - call.sinceMicros() > call.longestMicros() / 2) {
            call.tryFail(Call.State.WAITING, RedisFailure.overloaded("a call was not sent in time"));
        }
        if (!call.trySend(now)) {
            inFlight.decrementAndGet();
            return;
        }
        List<Call> calls = List.of(call);
        try {
            Command command = Command.of(calls, decisionTime);
            transport.run(
                    command,
                    call.longest(),
                    () -> !call.isDone(),
                    (reply, failure) -> received(calls, command, reply, failure));
        } catch (Throwable e) {
            // Also an Error: its place in flight must be free again.
            end(call, e);
        }
    }

    private void received(
            List<Call> calls, Command command, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<?> replies = List.of();
        Throwable why = failure;
        try {
            replies = why == null ? command.replies(reply, calls.size()) : replies;
        } catch (BackendException misread) {
            why = misread;
        }
        for (int i = 0; i < calls.size(); i++) {
            end(calls.get(i), why == null ? replies.get(i) : why);
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
        long now = time.nowMicros();
        long tookMicros = now - call.sinceMicros();
        // Who ends it at its deadline may be late too, when this JVM stands still.
        long lateMicros = tookMicros - call.longestMicros();
        Object answer = replyOrFailure;
        if (answer instanceof Throwable failure) {
            BackendException told = RedisFailure.of(failure);
            answer = told;
            if (RedisFailure.isAnswer(failure)) {
                if (breaker.noteRefusal(told)) {
                    watch.refuses(this);
                }
                answered(now, tookMicros, waitedFor && lateMicros <= 0);
            } else if (waitedFor && lateMicros > STALL_MICROS) {
                answer = RedisFailure.overloaded("this JVM stood still");
            } else if (waitedFor) {
                silence();
            }
        } else {
            answered(now, tookMicros, waitedFor && lateMicros <= 0);
        }
        if (waitedFor) {
            call.tell(answer);
        } else if (answer instanceof List<?> reply) {
            call.tellLate(reply);
        }
    }

    private void answered(long nowMicros, long tookMicros, boolean inTime) {
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
                back();
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
        boolean stalled = time.nowMicros() - call.dueMicros() > STALL_MICROS;
        Kind kind = stalled ? Kind.OVERLOADED : missed(call, unsent);
        call.tell(RedisFailure.late(kind, call.longest().toMillis()));
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
            watch.after(leftMicros, () -> {
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
            silence();
        }
    }

    private void sweepAt(long micros) {
        long now = time.nowMicros();
        long due = Math.max(now + HARDLY_MICROS, Math.min(micros, now + MOST_BETWEEN_SWEEPS_MICROS));
        if (due < nextSweepMicros.getAndAccumulate(due, Math::min)) {
            watch.after(due - now, this::sweep);
        }
    }

    /** Ends those whose deadline has passed, and forgets those that are done. */
    private void sweep() {
        nextSweepMicros.set(Long.MAX_VALUE);
        long now = time.nowMicros();
        long[] next = {Long.MAX_VALUE};
        withDeadline.removeIf(call -> {
            if (call.dueMicros() > now && !call.isDone()) {
                next[0] = Math.min(next[0], call.dueMicros());
                return false;
            }
            expire(call);
            return true;
        });
        if (next[0] != Long.MAX_VALUE) {
            sweepAt(next[0]);
        }
    }

    /** The master gave no answer to a test; probes find out whether it is away. */
    void suspect() {
        if (breaker.suspect(time.nowMicros())) {
            beginSuspecting();
        }
    }

    private void silence() {
        if (breaker.noteSilence(time.nowMicros())) {
            beginSuspecting();
        }
    }

    private void beginSuspecting() {
        BackendException why = breaker.whyNotDeciding();
        if (why != null) {
            failWaiting(why);
        }
        beginProbing();
    }

    private void beginProbing() {
        if (probing.compareAndSet(false, true)) {
            watch.suspect(this);
        }
    }

    /** It answers, so the probing ends; it begins anew if the answer was the last for now. */
    void endProbing() {
        probing.set(false);
        if (!breaker.isClosed()) {
            beginProbing();
        }
    }

    /** What came of a probe: no failure, or an error, is an answer. */
    void probed(@Nullable BackendException failure, boolean isAnswer, long tookMicros) {
        if (isAnswer) {
            if (tookMicros > deadlineMicros) {
                breaker.noteSlowProbe(tookMicros);
            } else if (breaker.noteAnswer()) {
                back();
            }
        } else if (failure == null || failure.kind() != Kind.OVERLOADED) {
            if (breaker.noteLostProbe(time.nowMicros())) {
                watch.away(this);
            }
        }
    }

    private void back() {
        window.reset();
        watch.back(this);
    }
}
