package io.limiter.redis;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.partitioningBy;

import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The queue of calls to one master, and their sender. A call is sent at once, on its own, while fewer than two commands
 * are on their way. Otherwise it waits for the next command, which is sent when one has its reply. Thread-safe, without
 * a lock that
 * callers share.
 */
final class Outbox {
    private static final Logger LOG = DiagnosticLog.of(Outbox.class);
    /** How long one command may occupy Redis. */
    private static final long MOST_WORK_MICROS = 500;

    private final TimeSource time;
    private final Window window;
    private final Flights flights;
    private volatile boolean bySlot;
    private final Function<List<Call>, Command> maker;
    private final BiConsumer<Command, Command.Receiver> transport;
    private final BiFunction<Call, Object, Runnable> ended;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    /** How many times the sending thread must check the queue. */
    private final AtomicInteger looks = new AtomicInteger();

    /**
     * @param bySlot whether the keys of a command must share a slot
     * @param maker makes the command of some calls
     * @param transport sends a command; the receiver may be called on any thread
     * @param ended receives a call and its reply, or the reason why there is none; returns what wakes its caller
     */
    Outbox(
            TimeSource time,
            Window window,
            Flights flights,
            boolean bySlot,
            Function<List<Call>, Command> maker,
            BiConsumer<Command, Command.Receiver> transport,
            BiFunction<Call, Object, Runnable> ended) {
        this.time = time;
        this.window = window;
        this.flights = flights;
        this.bySlot = bySlot;
        this.maker = maker;
        this.transport = transport;
        this.ended = ended;
    }

    /** Whether no call is on its way or waits. */
    boolean isIdle() {
        return inFlight.get() == 0 && waiting.isEmpty();
    }

    /** How many wait. */
    int waiting() {
        return waitingCount.get();
    }

    /** Sends a call, now or in its turn. */
    void add(Call call) {
        if (!trySendAlone(call)) {
            waitingCount.incrementAndGet();
            waiting.add(call);
        }
        // Even if it was sent: its flight may have ended already, and other calls may have begun to wait for that.
        send();
    }

    /** Sends calls in one command, now or in their turn. */
    void addTogether(List<Call> calls) {
        waitingCount.addAndGet(calls.size());
        waiting.addAll(calls);
        send();
    }

    /** Removes a call that was not sent and has no caller any more. */
    void remove(Call call) {
        // Calls leave roughly in order, so it is near the front.
        if (waiting.remove(call)) {
            waitingCount.decrementAndGet();
        }
    }

    /** Removes all waiting calls; none of them is sent. */
    void removeAll(Consumer<Call> then) {
        for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
            waitingCount.decrementAndGet();
            then.accept(call);
        }
    }

    /** A call that was sent has ended. */
    void noteEnd() {
        inFlight.decrementAndGet();
    }

    private boolean tryTakePlace() {
        // Without a place, the queue is checked once more afterwards, so no call is missed because a place was taken
        // for a moment.
        if (inFlight.incrementAndGet() <= window.size()) {
            return true;
        }
        inFlight.decrementAndGet();
        return false;
    }

    private boolean trySendAlone(Call call) {
        if (!waiting.isEmpty() || !tryTakePlace()) {
            return false;
        }
        Flights.Flight flight = flights.tryBegin(time.nowMicros(), window.flights());
        if (flight == null) {
            inFlight.decrementAndGet();
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
            while (!waiting.isEmpty() && inFlight.get() < window.size()) {
                Flights.Flight flight = flights.tryBegin(time.nowMicros(), window.flights());
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
    private List<Call> load(Flights.Flight flight, List<Call> expired) {
        List<Call> calls = new ArrayList<>();
        long workMicros = 0;
        for (Call next = waiting.peek(); next != null; next = waiting.peek()) {
            boolean fits = calls.isEmpty() || workMicros + Command.workMicros(next, calls) <= MOST_WORK_MICROS;
            if (!fits || !tryTakePlace()) {
                break;
            }
            Call call = waiting.poll();
            if (call == null) {
                inFlight.decrementAndGet();
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
    private boolean isSent(Call call, Flights.Flight flight, List<Call> expired) {
        long now = time.nowMicros();
        if (now - call.sinceMicros() > call.longestMicros / 2) {
            if (call.tryEnd(Call.State.WAITING)) {
                expired.add(call);
            }
        } else if (call.trySend(now, flight)) {
            return true;
        }
        inFlight.decrementAndGet();
        return false;
    }

    private void transmit(Flights.Flight flight, List<Call> calls) {
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

    private void transmit(Flights.Flight flight, Collection<List<Call>> commands) {
        flight.add(commands.size());
        for (List<Call> calls : commands) {
            try {
                Command command = maker.apply(calls);
                transport.accept(command, (reply, failure) -> received(flight, command, reply, failure));
            } catch (Throwable e) {
                // Catches Errors too: the places in flight must be freed.
                received(flight, calls, Collections.nCopies(calls.size(), e));
            }
        }
    }

    private void received(
            Flights.Flight flight, Command command, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<Call> calls = command.calls();
        if (failure == null) {
            received(flight, calls, command.replies(reply));
        } else if (calls.size() > 1 && (RedisFailure.isTryAgain(failure) || RedisFailure.isCrossSlot(failure))) {
            // The slot is on the move, some keys here and some there, or this is a server that wants one slot in each
            // command
            // though it is not known as a cluster. Nothing ran, and each call on its own finds its keys.
            bySlot |= RedisFailure.isCrossSlot(failure);
            Map<Boolean, List<Call>> byDone = calls.stream().collect(partitioningBy(Call::isDone));
            byDone.getOrDefault(true, List.of()).forEach(Call::noteReply);
            transmit(
                    flight,
                    byDone.getOrDefault(false, List.of()).stream().map(List::of).toList());
            flight.land();
        } else {
            received(flight, calls, Collections.nCopies(calls.size(), failure));
        }
    }

    /**
     * Calls that were sent have their replies, or will not get them. The next flight leaves before any caller is woken;
     * threads are woken before stages run, which may take long.
     */
    private void received(Flights.Flight flight, List<Call> calls, List<Object> replies) {
        flight.land();
        List<Runnable> threads = new ArrayList<>(calls.size());
        List<Runnable> stages = new ArrayList<>(0);
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            (call.isBlocking() ? threads : stages).add(ended.apply(call, replies.get(i)));
        }
        send();
        threads.forEach(Outbox::runSafely);
        stages.forEach(Outbox::runSafely);
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
