package io.limiter.redis;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The commands in flight to a master: few flights, so that calls that arrive in the meantime are grouped into the next
 * one. Each is a command, or in a cluster one for each slot. Thread-safe, without a lock.
 */
final class Flights {
    /** The useful number: with more, sending calls separately costs more than the shorter wait gains. */
    static final int MOST = 8;

    private final AtomicReferenceArray<@Nullable Flight> flights = new AtomicReferenceArray<>(MOST);
    private final long longestMicros;

    /** @param longestMicros after this time a flight no longer delays others: its answers may never come */
    Flights(long longestMicros) {
        this.longestMicros = longestMicros;
    }

    /** Begins a flight, unless the maximum are on their way. */
    @Nullable
    Flight tryBegin(long nowMicros, int most) {
        for (int i = 0; i < most; i++) {
            Flight before = flights.get(i);
            if (before == null || nowMicros - before.sinceMicros > longestMicros) {
                Flight flight = new Flight(i, nowMicros);
                if (flights.compareAndSet(i, before, flight)) {
                    return flight;
                }
            }
        }
        return null;
    }

    /** One of them. */
    final class Flight {
        private final int place;
        private final long sinceMicros;
        private final AtomicInteger commands = new AtomicInteger();
        private final AtomicBoolean silent = new AtomicBoolean();

        private Flight(int place, long nowMicros) {
            this.place = place;
            this.sinceMicros = nowMicros;
        }

        /** Adds commands to the flight. Called before they are sent. */
        void add(int more) {
            commands.addAndGet(more);
        }

        /** One of its commands has its reply, or will not get one. */
        void land() {
            if (commands.decrementAndGet() == 0) {
                end();
            }
        }

        /** It has no answer in time. Returns whether this is the first report. */
        boolean noteSilence() {
            return !silent.getAndSet(true);
        }

        /** It no longer delays others. */
        void end() {
            flights.compareAndSet(place, this, null);
        }
    }
}
