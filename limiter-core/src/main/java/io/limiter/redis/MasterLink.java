package io.limiter.redis;

import static java.util.stream.Collectors.groupingBy;

import io.limiter.BackendException;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import io.limiter.redis.CongestionWindow.Flight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one master: accepts calls, sends them in commands, hands over their answers, and ends those that get
 * none in time. A call is sent at once while few commands are on their way: fewer than two, as a rule (see {@link
 * CongestionWindow#tryBegin}); otherwise it waits for the next command, which is sent when one has its reply. The {@link
 * CongestionWindow} knows what waits and what is on its way; the {@link MasterHealth} knows whether the master can be
 * asked at all.
 *
 * <p>Thread-safe, without a lock that callers share. A call may be ended by its reply, by its deadline, or by an outage.
 * The compare-and-set of the call's own state decides which of them ends it; that one removes it from the queue or frees its
 * place in the window, once, and then delivers its answer, which a volatile field of the call publishes. One thread at a
 * time sends from the queue ({@link #looks}); others only make it look again. What answers and silences teach is written
 * under the lock of the window or of the health, each for itself, never both, and read without it in volatile fields. No
 * caller's code runs under a lock, or while this thread sends.
 */
final class MasterLink {
    private static final Logger LOG = LoggerFactory.getLogger(MasterLink.class);
    private static final long LEAST_BETWEEN_SWEEPS_MICROS = 1_000;
    /** A call that is done is kept until the next sweep, so this bounds how long. */
    private static final long MOST_BETWEEN_SWEEPS_MICROS = 100_000;

    /**
     * The answer to a call, to be delivered.
     *
     * @param inTime whether its caller still waits for it
     */
    private record Answered(Call call, Object replyOrFailure, boolean inTime) {
        /** A failure for one caller does not affect the others. */
        void deliver() {
            try {
                if (inTime) {
                    call.deliver(replyOrFailure);
                } else {
                    call.deliverLate(replyOrFailure);
                }
            } catch (Throwable e) {
                LOG.debug("a caller could not be notified", e);
            }
        }
    }

    final MasterHealth health;
    private final CongestionWindow window;
    private final Transport transport;
    private final TimeSource time;
    private final @Nullable TimeSource decisionTime;
    /** How often the sending thread was asked to look at the queue since it looked last; 0 if no thread sends. */
    private final AtomicInteger looks = new AtomicInteger();
    /** The calls without a waiting thread: at their deadline a sweep ends them, one for all of them. */
    private final Queue<Call> unattended = new ConcurrentLinkedQueue<>();

    private final AtomicLong nextSweepMicros = new AtomicLong(Long.MAX_VALUE);
    private volatile boolean closed;

    /**
     * @param time a monotonic clock
     * @param decisionTime where scripts read the time; null for the server's
     * @param deadline within which a healthy master answers
     * @param watch the watch thread, for what may block
     * @param forget called when it is no longer a master
     */
    MasterLink(
            SelfTest test,
            TimeSource time,
            @Nullable TimeSource decisionTime,
            Duration deadline,
            Executor watch,
            Consumer<MasterLink> forget) {
        this.health = new MasterHealth(test, time, deadline, watch, this::failWaiting, () -> forget.accept(this));
        this.window = health.window;
        this.transport = test.transport;
        this.time = time;
        this.decisionTime = decisionTime;
        transport.onLost(test.master, health::noteLost);
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return window.isEmpty();
    }

    /** Sends a call, now or in its turn. Fails it at once if the master can't be asked, or if too many wait. */
    void send(Call call) {
        add(call);
        sendWaiting();
    }

    /** The same with the next {@link #sendWaiting}, so that several leave in one command where they can. */
    void add(Call call) {
        BackendException refusal = health.refusal(call.longestMicros);
        if (refusal == null && window.waiting() >= CongestionWindow.LONGEST_QUEUE) {
            refusal = RedisFailure.overloaded(
                    CongestionWindow.LONGEST_QUEUE + " calls already wait to be sent to " + health.test.name);
        }
        if (refusal != null) {
            call.tryFail(Call.State.WAITING, refusal);
            return;
        }
        if (call.longestMicros > health.longestMicros) {
            health.longestMicros = call.longestMicros;
        }
        window.addWaiting(call);
        if (!call.isBlocking()) {
            unattended.add(call);
            sweepAt(call.dueMicros);
        }
        if (closed) {
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

    /** Fails all that wait: nothing else would end them. */
    void close() {
        closed = true;
        failWaiting(RedisFailure.closed());
        unattended.forEach(MasterLink::failClosed);
    }

    private static void failClosed(Call call) {
        BackendException failure = RedisFailure.closed();
        call.tryFail(Call.State.WAITING, failure);
        call.tryFail(Call.State.SENT, failure);
    }

    /** Fails all calls that wait; none of them is sent. */
    private void failWaiting(BackendException failure) {
        for (Call call = window.poll(); call != null; call = window.poll()) {
            call.tryFail(Call.State.WAITING, failure);
        }
    }

    /**
     * The one place where calls leave the queue. One thread at a time, so that none overtakes another, and calls which fail while they
     * are being sent do not send one another; after an Error the next call sends what still waits.
     */
    void sendWaiting() {
        if (!window.hasWaiting() || looks.getAndIncrement() != 0) {
            return;
        }
        List<Call> expired = new ArrayList<>(0);
        int looked = 1;
        try {
            do {
                for (Flight next = window.tryLoad(time, expired); next != null; next = window.tryLoad(time, expired)) {
                    transmit(next);
                }
                looked = looks.addAndGet(-looked);
            } while (looked != 0);
        } finally {
            if (looked != 0) {
                looks.set(0);
            }
            // Not while this thread sends: the caller's code may take long, or make another call.
            expired.forEach(call -> failExpired(call, () -> RedisFailure.overloaded("a call was not sent in time")));
        }
    }

    private void failExpired(Call call, Supplier<BackendException> reason) {
        long lateMicros = time.nowMicros() - call.dueMicros;
        call.deliver(lateMicros > MasterHealth.STALL_MICROS ? RedisFailure.stalled(lateMicros) : reason.get());
    }

    private void transmit(Flight flight) {
        if (flight.calls.isEmpty()) {
            flight.end();
        } else if (flight.calls.size() > 1 && transport.isCluster() && !health.test.mixesSlots) {
            transmit(
                    flight,
                    flight.calls.stream().collect(groupingBy(Call::slot)).values());
        } else {
            transmit(flight, List.of(flight.calls));
        }
    }

    /** Sends the calls of each command. */
    private void transmit(Flight flight, Collection<List<Call>> commands) {
        flight.add(commands.size());
        for (List<Call> calls : commands) {
            try {
                Command command = Command.of(calls, decisionTime, transport.isCluster());
                transport.run(
                        health.test.master,
                        command,
                        (reply, failure) -> received(flight, command.calls(), command.replies(reply, failure)));
            } catch (Throwable e) {
                // Errors too: the places of these calls must be freed.
                received(flight, calls, Collections.nCopies(calls.size(), e));
            }
        }
    }

    /**
     * Calls that were sent have their replies, or will not get them. Two kinds are sent again, each alone, because nothing ran of them:
     * those whose keys are elsewhere (a slot moves, or the server wants one slot in each command); and once those that a replica refused,
     * by another connection. The next flight leaves before any caller is woken; threads are woken before stages run, which may take
     * long.
     */
    private void received(Flight flight, List<Call> calls, List<Object> replies) {
        List<Answered> answers = new ArrayList<>(calls.size());
        List<List<Call>> again = new ArrayList<>(0);
        // How many of the answers are for blocked threads; these come first.
        int blocked = 0;
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            Object reply = replies.get(i);
            if (RedisFailure.wantsOneSlot(reply)) {
                // From now on each slot has a command.
                health.test.mixesSlots = false;
            }
            boolean isRetried = calls.size() > 1 && RedisFailure.isElsewhere(reply)
                    || RedisFailure.isOfReplica(reply) && health.renew(call.sinceMicros()) && call.tryRetry();
            if (!isRetried) {
                answers.add(call.isBlocking() ? blocked++ : answers.size(), answered(call, reply));
            } else if (call.isDone()) {
                call.noteReply();
            } else {
                again.add(List.of(call));
            }
        }
        transmit(flight, again);
        flight.land();
        sendWaiting();
        answers.forEach(Answered::deliver);
    }

    private Answered answered(Call call, Object replyOrFailure) {
        long nowMicros = time.nowMicros();
        boolean inTime = call.tryEnd(Call.State.SENT);
        long tookMicros = nowMicros - call.sinceMicros();
        if (inTime) {
            window.freePlace();
        }
        // The thread that ends it at its deadline may be late too, if this JVM is stalled.
        long lateMicros = tookMicros - call.longestMicros;
        Object answer = replyOrFailure instanceof Throwable lost ? RedisFailure.of(lost) : replyOrFailure;
        if (!(replyOrFailure instanceof Throwable failure) || RedisFailure.isAnswer(failure)) {
            health.noteAnswer(nowMicros, tookMicros, inTime && lateMicros <= 0);
            if (answer instanceof BackendException error) {
                health.noteError(error);
            }
        } else if (inTime && lateMicros > MasterHealth.STALL_MICROS) {
            answer = RedisFailure.stalled(lateMicros);
        } else if (inTime && call.claimSilence() && ConnectionLost.isFirst(failure)) {
            health.noteSilences(1);
        }
        call.noteReply();
        return new Answered(call, answer, inTime);
    }

    /** Ends a call after its deadline: one that was sent may still run. Returns false if it has ended already. */
    private boolean expire(Call call) {
        boolean unsent = call.tryEnd(Call.State.WAITING);
        if (unsent) {
            window.tryRemoveWaiting(call);
        } else if (call.tryEnd(Call.State.SENT)) {
            window.freePlace();
            call.endCarrier();
        } else {
            return false;
        }
        // If this JVM was stalled, the miss says nothing about the master, and is not noted.
        failExpired(call, () -> RedisFailure.late(health.noteMissed(call, unsent), call.longestMicros / 1_000));
        sendWaiting();
        return true;
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
        unattended.removeIf(call -> {
            boolean isOver = call.isDone() || call.dueMicros <= now;
            if (isOver) {
                expire(call);
            }
            return isOver;
        });
        unattended.stream().mapToLong(call -> call.dueMicros).min().ifPresent(this::sweepAt);
    }
}
