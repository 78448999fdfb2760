package io.limiter.redis;

import io.limiter.Backend.FlightListener;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The calls in flight of this instance: sends what is due of them, many together. While Redis does not answer, one at a time finds out
 * when it does. Thread-safe.
 */
final class CallsInFlight {
    /** There are at most as many calls as need one renewal in this time. Further ones are denied: nobody could renew all in time. */
    private static final long RENEWAL_MICROS = 100;

    /** After what had no answer. */
    static final long AGAIN_MICROS = 200_000;

    private static final Logger LOG = DiagnosticLog.of(CallsInFlight.class);
    private static final long EVERY_MICROS = 50_000;
    /** So that they don't delay others. */
    private static final int TOGETHER = 1_024;

    private static final long LONGEST_CLOSING_MICROS = 2_000_000;

    private final RedisKeys keys;
    private final TimeSource time;
    private final Sender sender;
    /** What the ids of its calls begin with: a random one for each instance. */
    private final String instance = Long.toHexString(ThreadLocalRandom.current().nextLong() | Long.MIN_VALUE);

    private final AtomicLong begun = new AtomicLong();
    /** Those that Redis may hold. */
    private final Set<FlightCall> calls = ConcurrentHashMap.newKeySet();

    /** Where {@link #sendDue} goes on. Guarded by this. */
    private Iterator<FlightCall> next = Collections.emptyIterator();

    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile boolean failing;
    private volatile FlightListener listener = (policy, permits, above) -> {};
    private final Throttle warnings;

    /** The way to Redis. */
    interface Sender {
        void send(Call.Part part);

        /** Runs a task that never blocks. */
        void after(long micros, Runnable task);
    }

    /** @param time a monotonic clock */
    CallsInFlight(RedisKeys keys, TimeSource time, Sender sender) {
        this.keys = keys;
        this.time = time;
        this.sender = sender;
        this.warnings = new Throttle(time::nowMicros, 60_000_000);
    }

    void onHeldAgain(FlightListener other) {
        listener = other;
    }

    long nowMicros() {
        return time.nowMicros();
    }

    /** How many there are. */
    int size() {
        return calls.size();
    }

    private boolean isFull(Limit limit) {
        return calls.size() >= FlightCall.betweenMicros(limit) / RENEWAL_MICROS;
    }

    /** The denial of a call whose permits could not be renewed because there are too many; null for none. */
    @Nullable
    Decision denial(List<Charge> charges) {
        for (Charge charge : charges) {
            Limit limit = charge.policy().limits().get(0);
            if (charge.policy().isInFlight() && charge.permits() > 0 && isFull(limit)) {
                if (warnings.tryPass()) {
                    LOG.warn(
                            "RL-417 {} calls are in flight in this instance, as many as it can renew, so further ones of"
                                    + " policy '{}' are denied; logged again in 60 s at the earliest",
                            calls.size(),
                            charge.policy().name());
                }
                return Decision.of(
                        Decision.Source.CACHED_DENIAL,
                        charges,
                        List.of(LimitOutcome.of(charge, limit, false, 0, LimitOutcome.UNKNOWN, 0, 0, 0)));
            }
        }
        return null;
    }

    /** The parts of a call, of which those that take permits in flight have an id. */
    List<Call.Part> begin(List<Call.Part> parts) {
        List<Call.Part> begun = parts;
        for (int i = 0; i < parts.size(); i++) {
            Call.Part part = parts.get(i);
            if (part.isTake() && part.isInFlight()) {
                begun = begun == parts ? new ArrayList<>(parts) : begun;
                begun.set(i, part.with(call(part)));
            }
        }
        return begun;
    }

    private FlightCall call(Call.Part part) {
        return new FlightCall(this, part, instance + Long.toHexString(begun.incrementAndGet()));
    }

    void add(FlightCall call) {
        calls.add(call);
        begin();
    }

    void remove(FlightCall call) {
        calls.remove(call);
    }

    void send(Call.Part part) {
        sender.send(part);
    }

    /** Whether Redis has answered what was sent in the background. */
    void answered(boolean answered) {
        failing = !answered;
    }

    /** Looks again and again, as long as there are calls. */
    private void begin() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            sender.after(EVERY_MICROS, this::work);
        }
    }

    private void work() {
        scheduled.set(false);
        try {
            sendDue();
        } catch (RuntimeException failed) {
            LOG.debug("calls in flight could not be renewed", failed);
        } finally {
            if (!calls.isEmpty()) {
                begin();
            }
        }
    }

    /** Looks at each of them once, or until it has sent enough: then it goes on there the next time. Returns how much it sent. */
    private synchronized int sendDue() {
        long now = time.nowMicros();
        int most = failing ? 1 : TOGETHER;
        int sent = 0;
        for (int left = calls.size(); left > 0 && sent < most; left--) {
            next = next.hasNext() ? next : calls.iterator();
            Call.Part part = next.hasNext() ? next.next().due(now) : null;
            if (part != null) {
                sender.send(part);
                sent++;
            }
        }
        return sent;
    }

    /** Ends all of them, in portions, as long as Redis answers each within a deadline. */
    void close(long deadlineMicros) {
        calls.forEach(FlightCall::endSoon);
        long until = time.nowMicros() + LONGEST_CLOSING_MICROS;
        do {
            failing = false;
            int aim = calls.size() - sendDue();
            long portion = Math.min(until, time.nowMicros() + deadlineMicros);
            do {
                LockSupport.parkNanos(1_000_000);
            } while (calls.size() > aim && !failing && time.nowMicros() < portion);
        } while (!calls.isEmpty() && !failing && time.nowMicros() < until);
    }

    /** Holds in Redis too what was decided without it, until it ends there too. */
    void adopt(Decision decision) {
        for (LimitOutcome outcome : decision.outcomes()) {
            if (outcome.isInFlight() && !isFull(outcome.limit())) {
                String key = keys.of(outcome.policy(), outcome.charge().key(), outcome.limit());
                Limit whole = whole(decision.charges(), outcome);
                FlightCall call = call(new Call.Part(key, outcome.charge(), whole, Call.TAKE, false, 0, null, null));
                LimitOutcome.Holder local = outcome.holder(Access.LIBRARY);
                outcome.heldBy(
                        Access.LIBRARY,
                        local == null
                                ? call
                                : ended -> {
                                    boolean first = local.end(ended);
                                    if (first) {
                                        call.endNow();
                                    }
                                    return first;
                                });
                call.adopt();
            }
        }
    }

    /** The limit of which the other granted its share. */
    private static Limit whole(List<Charge> charges, LimitOutcome outcome) {
        return charges.stream()
                .filter(charge -> charge.isToSame(outcome.charge()))
                .flatMap(charge -> charge.policy().limits().stream())
                .filter(limit -> limit.spec().algorithm().isInFlight()
                        && limit.spec().identity().equals(outcome.limit().spec().identity()))
                .findFirst()
                .orElse(outcome.limit());
    }

    /** Redis did not hold the permits of a call that is in flight, and does again; so many are held above the limit now. */
    void heldAgain(Call.Part part, long above) {
        long permits = part.charge().permits();
        listener.heldAgain(part.charge().policy(), permits, Math.min(permits, Math.max(0, above)));
    }
}
