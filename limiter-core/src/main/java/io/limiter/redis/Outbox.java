package io.limiter.redis;

import static java.util.stream.Collectors.groupingBy;

import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one master that wait to be sent and those that were sent, and how the ones become the others: who finds nothing on
 * its way is sent at once, on its own; who comes meanwhile waits for the next flight, which leaves when one has landed.
 * Thread-safe, without a lock that callers share.
 */
final class Outbox {
    /** So long one command may keep Redis from everybody else. */
    private static final long MOST_WORK_MICROS = 500;

    private final TimeSource time;
    private final Window window;
    private final Flights flights;
    private final boolean bySlot;
    private final Function<List<Call>, Command> maker;
    private final BiConsumer<Command, Command.Receiver> transport;
    private final BiFunction<Call, Object, Runnable> ended;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    /** How many times the queue is to be looked at by the thread that does so now. */
    private final AtomicInteger looks = new AtomicInteger();

    /**
     * @param bySlot whether the keys of a command must share a slot
     * @param maker makes the command of some calls
     * @param transport sends a command; the receiver may be called on any thread
     * @param ended is told the reply to a call, or why there is none, and says what is to be done for who waits for it
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
        // Also when it was sent: its flight may have ended already, and somebody may have begun to wait for that.
        send();
    }

    /** Nobody waits for the call any more, and it was not sent. */
    void remove(Call call) {
        // They come in order and leave about in order, so it is near the front.
        if (waiting.remove(call)) {
            waitingCount.decrementAndGet();
        }
    }

    /** None that waits will be sent. */
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
        // Who gets none looks at the queue once more afterwards, so nobody is forgotten for a place taken for a moment.
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
        transmit(flight, isSent(call, flight) ? List.of(call) : List.of());
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
        int looked = 1;
        do {
            while (!waiting.isEmpty() && inFlight.get() < window.size()) {
                Flights.Flight flight = flights.tryBegin(time.nowMicros(), window.flights());
                if (flight == null) {
                    break;
                }
                transmit(flight, load(flight));
            }
            looked = looks.addAndGet(-looked);
        } while (looked != 0);
    }

    /** The next calls that wait, as many as one flight takes. */
    private List<Call> load(Flights.Flight flight) {
        List<Call> calls = new ArrayList<>();
        long workMicros = 0;
        while (workMicros < MOST_WORK_MICROS && !waiting.isEmpty() && tryTakePlace()) {
            Call call = waiting.poll();
            if (call == null) {
                inFlight.decrementAndGet();
            } else {
                waitingCount.decrementAndGet();
                if (isSent(call, flight)) {
                    calls.add(call);
                    workMicros += Command.workMicros(call);
                }
            }
        }
        return calls;
    }

    /**
     * A call that has a place is sent with this flight, unless nobody waits for it any more, or it has used up half its time
     * here: its answer would come too late, and so would that of everybody behind it. Then its place is free again.
     */
    private boolean isSent(Call call, Flights.Flight flight) {
        long now = time.nowMicros();
        if (now - call.sinceMicros() > call.longestMicros / 2) {
            call.tryFail(Call.State.WAITING, RedisFailure.overloaded("a call was not sent in time"));
        }
        if (call.trySend(now, flight)) {
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

    /** What is equal up to the brace lies in one slot. */
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
                // Also an Error: its places in flight must be free again.
                received(flight, calls, Collections.nCopies(calls.size(), e));
            }
        }
    }

    private void received(
            Flights.Flight flight, Command command, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<Call> calls = command.calls();
        if (failure == null) {
            received(flight, calls, command.replies(reply));
        } else if (calls.size() > 1 && RedisFailure.isTryAgain(failure)) {
            // The slot is on the move, some keys here and some there. Nothing ran, and each call alone finds its keys.
            calls.stream().filter(Call::isDone).forEach(Call::noteReply);
            transmit(
                    flight,
                    calls.stream().filter(call -> !call.isDone()).map(List::of).toList());
            flight.land();
        } else {
            received(flight, calls, Collections.nCopies(calls.size(), failure));
        }
    }

    /** Calls that were sent have their replies, or never will. The next flight leaves before any caller is woken. */
    private void received(Flights.Flight flight, List<Call> calls, List<Object> replies) {
        flight.land();
        List<Runnable> told = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            told.add(ended.apply(calls.get(i), replies.get(i)));
        }
        send();
        told.forEach(Runnable::run);
    }
}
