package io.limiter.redis;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.slf4j.Logger;

/**
 * Renews what this instance holds of calls in flight, many together; what Redis may not know, at once. Ends calls. While Redis does not answer,
 * one of them at a time finds out when it does. Thread-safe.
 */
final class Renewals implements CallsInFlight.Sender {
    /** After a renewal without an answer. */
    static final long AGAIN_MICROS = 100_000;

    private static final Logger LOG = DiagnosticLog.of(Renewals.class);
    private static final long EVERY_MICROS = 50_000;
    /** So that they don't delay others. */
    private static final int TOGETHER = 512;

    private final Connection connection;
    private final CallsInFlight flights;
    private final DenialCache denials;
    private final Duration deadline;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile boolean failing;

    Renewals(Connection connection, CallsInFlight flights, DenialCache denials, Duration deadline) {
        this.connection = connection;
        this.flights = flights;
        this.denials = denials;
        this.deadline = deadline;
    }

    /** Looks again and again, as long as there is something. */
    @Override
    public void begin() {
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
        if (!flights.isEmpty()) {
            begin();
        }
    }

    @Override
    public void renew(Stream<FlightEntry> entries) {
        send(entries, TOGETHER);
    }

    private void send(Stream<FlightEntry> entries, int most) {
        long now = TimeSource.system().nowMicros();
        List<Call> calls = entries.map(entry -> entry.tryRenew(now))
                .filter(Objects::nonNull)
                .limit(most)
                .map(part -> Call.now(List.of(part), deadline, false))
                .toList();
        calls.forEach(call -> call.future().whenComplete((outcomes, failure) -> failing = failure != null));
        connection.send(calls);
    }

    @Override
    public void end(Call.Part part) {
        Duration longest = Objects.requireNonNullElse(part.charge().policy().deadline(), deadline);
        denials.clearing(Call.now(List.of(part), longest, false), connection::send);
    }
}
