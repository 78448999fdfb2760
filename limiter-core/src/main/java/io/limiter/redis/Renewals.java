package io.limiter.redis;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Renews what this instance holds of calls in flight, many together; what Redis may not know, at once. While Redis does not answer,
 * one of them at a time finds out when it does. Thread-safe.
 */
final class Renewals {
    /** After a renewal without an answer. */
    static final long AGAIN_MICROS = 100_000;

    private static final Logger LOG = DiagnosticLog.of(Renewals.class);
    private static final long EVERY_MICROS = 50_000;
    /** So that they don't delay others. */
    private static final int TOGETHER = 512;

    private final Connection connection;
    private final CallsInFlight flights;
    private final Duration deadline;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile boolean failing;

    private Renewals(Connection connection, CallsInFlight flights, Duration deadline) {
        this.connection = connection;
        this.flights = flights;
        this.deadline = deadline;
    }

    /** Begins with the first of these. */
    static void of(Connection connection, CallsInFlight flights, Duration deadline) {
        Renewals renewals = new Renewals(connection, flights, deadline);
        flights.onEntry(renewals::begin, entries -> renewals.send(entries, TOGETHER));
    }

    /** Looks again and again, as long as there is something. */
    private void begin() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            connection.after(EVERY_MICROS, this::work);
        }
    }

    private void work() {
        try {
            send(flights.entries(), failing ? 1 : TOGETHER);
        } catch (RuntimeException failed) {
            LOG.debug("calls in flight could not be renewed", failed);
        }
        scheduled.set(false);
        if (!flights.entries().isEmpty()) {
            begin();
        }
    }

    private void send(Collection<FlightEntry> entries, int most) {
        long now = TimeSource.system().nowMicros();
        List<Call> calls = new ArrayList<>();
        for (FlightEntry entry : entries) {
            Call.Part part = calls.size() < most ? entry.tryRenew(now) : null;
            if (part != null) {
                Call call = Call.now(List.of(part), deadline, false);
                call.future().whenComplete((outcomes, failure) -> failing = failure != null);
                calls.add(call);
            }
        }
        connection.send(calls);
    }
}
