package io.limiter.redis;

import static java.util.stream.Collectors.groupingBy;

import io.limiter.BackendException;
import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import io.limiter.redis.CongestionWindow.Flight;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The queue of calls to one master, and their sender. A call is sent at once, on its own, while fewer than two commands
 * are on their way. Otherwise it waits for the next command, which is sent when one has its reply. Thread-safe, without
 * a lock that callers share.
 */
final class Outbox {
    private static final Logger LOG = DiagnosticLog.of(Outbox.class);
    /** How long one command may occupy Redis. */
    private static final long MOST_WORK_MICROS = 500;

    private final TimeSource time;
    private final @Nullable TimeSource decisionTime;
    private final CongestionWindow window;
    private volatile boolean bySlot;
    private final Transport transport;
    private final BiFunction<Call, Object, Runnable> ended;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    /** How many times the sending thread must check the queue. */
    private final AtomicInteger looks = new AtomicInteger();

    /**
     * @param decisionTime where scripts read the time; null for the server's
     * @param bySlot whether the keys of a command must share a slot
     * @param ended receives a call and its reply, or the reason why there is none; returns what wakes its caller
     */
    Outbox(
            TimeSource time,
            @Nullable TimeSource decisionTime,
            CongestionWindow window,
            boolean bySlot,
            Transport transport,
            BiFunction<Call, Object, Runnable> ended) {
        this.time = time;
        this.decisionTime = decisionTime;
        this.window = window;
        this.bySlot = bySlot;
        this.transport = transport;
        this.ended = ended;
    }

    /** How many wait. */
    int waiting() {
        return waitingCount.get();
    }

    /** Sends calls, now or in their turn: one at once if it can be, several in one command. */
    void add(List<Call> calls) {
        if (calls.size() != 1 || !trySendAlone(calls.get(0))) {
            waitingCount.addAndGet(calls.size());
            waiting.addAll(calls);
        }
        // Even if it was sent: its flight may have ended already, and other calls may have begun to wait for that. Or
        // its place was taken for a moment, in which another call found none.
        send();
    }

    /** Removes a call that was not sent and has no caller any more. */
    void remove(Call call) {
        // Calls leave roughly in order, so it is near the front.
        if (waiting.remove(call)) {
            waitingCount.decrementAndGet();
        }
    }

    /** Fails all waiting calls; none of them is sent. */
    void failAll(BackendException failure) {
        for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
            waitingCount.decrementAndGet();
            call.tryFail(Call.State.WAITING, failure);
        }
    }

    private boolean trySendAlone(Call call) {
        if (!waiting.isEmpty() || !window.tryTakePlace()) {
            return false;
        }
        Flight flight = window.tryBegin(time.nowMicros());
        if (flight == null) {
            window.freePlace();
            return false;
        }
        List<Call> expired = new ArrayList<>(0);
        transmit(flight, isSent(call, flight, expired) ? List.of(call) : List.of());
        tellExpired(expired);
        return true;
    }

    /**
     * The one place where calls leave the queue and become commands. One thread at a time, so that calls which fail while they
     * are being sent do not send one another.
     */
    void send() {
        if (waiting.isEmpty() || looks.getAndIncrement() != 0) {
            return;
        }
        List<Call> expired = new ArrayList<>(0);
        int looked = 1;
        do {
            while (!waiting.isEmpty() && !window.isFull()) {
                Flight flight = window.tryBegin(time.nowMicros());
                if (flight == null) {
                    break;
                }
                transmit(flight, load(flight, expired));
            }
            looked = looks.addAndGet(-looked);
        } while (looked != 0);
        // Not while this thread sends: the caller's code may take long, or make another call.
        tellExpired(expired);
    }

    private void tellExpired(List<Call> expired) {
        for (Call call : expired) {
            long lateMicros = time.nowMicros() - call.dueMicros;
            call.deliver(
                    lateMicros > Sender.STALL_MICROS
                            ? RedisFailure.stalled(lateMicros)
                            : RedisFailure.overloaded("a call was not sent in time"));
        }
    }

    /** The next calls that wait, as many as one flight takes. */
    private List<Call> load(Flight flight, List<Call> expired) {
        List<Call> calls = new ArrayList<>();
        long workMicros = 0;
        for (Call next = waiting.peek(); next != null; next = waiting.peek()) {
            boolean fits = calls.isEmpty() || workMicros + Command.workMicros(next, calls) <= MOST_WORK_MICROS;
            if (!fits || !window.tryTakePlace()) {
                break;
            }
            Call call = waiting.poll();
            if (call == null) {
                window.freePlace();
            } else {
                waitingCount.decrementAndGet();
                if (isSent(call, flight, expired)) {
                    workMicros += Command.workMicros(call, calls);
                    calls.add(call);
                }
            }
        }
        return calls;
    }

    /**
     * A call with a place is sent with this flight, unless its caller has stopped waiting, or half its time is over:
     * its answer would come too late, and so would all answers after it. Then its place is free again.
     */
    private boolean isSent(Call call, Flight flight, List<Call> expired) {
        long now = time.nowMicros();
        if (now - call.sinceMicros() > call.longestMicros / 2) {
            if (call.tryEnd(Call.State.WAITING)) {
                expired.add(call);
            }
        } else if (call.trySend(now, flight)) {
            return true;
        }
        window.freePlace();
        return false;
    }

    private void transmit(Flight flight, List<Call> calls) {
        if (calls.isEmpty()) {
            flight.end();
        } else if (bySlot && calls.size() > 1) {
            transmit(flight, calls.stream().collect(groupingBy(Outbox::slot)).values());
        } else {
            transmit(flight, List.of(calls));
        }
    }

    /** Keys that are equal up to the brace are in one slot. */
    private static String slot(Call call) {
        String key = call.parts.get(0).key();
        return key.substring(0, key.indexOf('}'));
    }

    private void transmit(Flight flight, Collection<List<Call>> commands) {
        flight.add(commands.size());
        for (List<Call> calls : commands) {
            try {
                Command command = Command.of(calls, decisionTime);
                transport.run(command, (reply, failure) -> received(flight, command, reply, failure));
            } catch (Throwable e) {
                // Catches Errors too: the places in flight must be freed.
                received(flight, calls, Collections.nCopies(calls.size(), e));
            }
        }
    }

    private void received(Flight flight, Command command, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<Call> calls = command.calls();
        if (failure == null) {
            received(flight, calls, command.replies(reply));
        } else if (calls.size() > 1 && RedisFailure.hasCode(failure, "TRYAGAIN", "CROSSSLOT")) {
            // The slot is on the move, some keys here and some there, or this is a server that wants one slot in each
            // command
            // though it is not known as a cluster. Nothing ran, and each call on its own finds its keys.
            bySlot |= RedisFailure.hasCode(failure, "CROSSSLOT");
            List<List<Call>> wanted = new ArrayList<>();
            for (Call call : calls) {
                if (call.isDone()) {
                    call.noteReply();
                } else {
                    wanted.add(List.of(call));
                }
            }
            transmit(flight, wanted);
            flight.land();
        } else {
            received(flight, calls, Collections.nCopies(calls.size(), failure));
        }
    }

    /**
     * Calls that were sent have their replies, or will not get them. The next flight leaves before any caller is woken;
     * threads are woken before stages run, which may take long.
     */
    private void received(Flight flight, List<Call> calls, List<Object> replies) {
        flight.land();
        List<Runnable> deliveries = new ArrayList<>(calls.size());
        int threads = 0;
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            deliveries.add(call.isBlocking() ? threads++ : i, ended.apply(call, replies.get(i)));
        }
        send();
        deliveries.forEach(Outbox::runSafely);
    }

    /** A failure for one caller does not affect the others. */
    private static void runSafely(Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable e) {
            LOG.debug("a caller could not be notified", e);
        }
    }
}
