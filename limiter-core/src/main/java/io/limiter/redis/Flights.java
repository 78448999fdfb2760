package io.limiter.redis;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What is on its way to a master at one time: few flights, so that calls which come meanwhile gather for the next one. Each
 * is a command, or in a cluster one for each slot. Thread-safe, without a lock.
 */
final class Flights {
    /** As many as are of use: beyond this a call on its own costs more than it waits less. */
    static final int MOST = 8;

    private final AtomicReferenceArray<@Nullable Flight> flights = new AtomicReferenceArray<>(MOST);
    private final long longestMicros;

    /** @param longestMicros after that a flight keeps no other waiting: its answers may never come */
    Flights(long longestMicros) {
        this.longestMicros = longestMicros;
    }

    /** Begins one, unless so many are on their way. */
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

        /** It has so many commands more. To be said before they are sent. */
        void add(int more) {
            commands.addAndGet(more);
        }

        /** One of its commands has its reply, or never will. */
        void land() {
            if (commands.decrementAndGet() == 0) {
                end();
            }
        }

        /** It has no answer in time. Returns whether that is news. */
        boolean noteSilence() {
            return !silent.getAndSet(true);
        }

        /** It keeps no other waiting any more. */
        void end() {
            flights.compareAndSet(place, this, null);
        }
    }
}
