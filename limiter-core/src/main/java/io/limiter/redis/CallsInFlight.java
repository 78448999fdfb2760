package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
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
import org.slf4j.LoggerFactory;

/**
 * The calls in flight of this instance, each a {@link FlightCall}: sends what is due of them, many together. While Redis does not answer,
 * one at a time finds out when it does. Redis holds the permits, for a time; here is what has to be said to it until each has ended there.
 * Thread-safe.
 */
final class CallsInFlight {
    /** At most as many calls run as need one renewal in this time. Further ones are denied: nobody could renew all in time. */
    private static final long RENEWAL_MICROS = 100;

    private static final long LONGEST_BETWEEN_MICROS = 10_000_000;
    /** What more takes without an answer hold runs out by itself. */
    private static final long MOST = LONGEST_BETWEEN_MICROS / RENEWAL_MICROS;
    /** After what had no answer. */
    private static final long AGAIN_MICROS = 200_000;

    private static final long NOT_DUE = Long.MAX_VALUE;

    private static final Logger LOG = LoggerFactory.getLogger(CallsInFlight.class);
    private static final long EVERY_MICROS = 50_000;
    /** So that they don't delay others. */
    private static final int TOGETHER = 1_024;

    private static final long LONGEST_CLOSING_MICROS = 2_000_000;

    private final TimeSource time;
    private final Sender sender;
    /** What the ids of its calls begin with: a random one for each instance. */
    private final String instance = Long.toHexString(ThreadLocalRandom.current().nextLong() | Long.MIN_VALUE);

    private final AtomicLong begun = new AtomicLong();
    /** Those that Redis may hold. */
    private final Set<FlightCall> calls = ConcurrentHashMap.newKeySet();
    /** How many of them run. */
    private final AtomicLong running = new AtomicLong();

    /** Where {@link #sendDue} goes on. Guarded by this. */
    private Iterator<FlightCall> next = Collections.emptyIterator();

    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile boolean failing;
    private final Throttle warnings;
    private final Throttle losses;
    /** The way to Redis. */
    interface Sender {
        void send(Call.Part part);

        /** Runs a task that never blocks. */
        void after(long micros, Runnable task);
    }

    /** @param time a monotonic clock */
    CallsInFlight(TimeSource time, Sender sender) {
        this.time = time;
        this.sender = sender;
        this.warnings = new Throttle(time::nowMicros, 60_000_000);
        this.losses = new Throttle(time::nowMicros, 60_000_000);
    }

    /** How many there are. */
    int size() {
        return calls.size();
    }

    /** The time between two renewals. */
    private static long betweenMicros(Limit limit) {
        return Math.min(limit.periodMicros() / 3, LONGEST_BETWEEN_MICROS);
    }

    /** The denial of a call whose permits could not be renewed because there are too many; null for none. */
    @Nullable
    Decision denial(List<Charge> charges) {
        for (Charge charge : charges) {
            Limit limit = charge.policy().limits().get(0);
            boolean isHeld = charge.policy().isInFlight() && charge.permits() > 0;
            if (isHeld && running.get() >= betweenMicros(limit) / RENEWAL_MICROS) {
                if (warnings.tryPass()) {
                    LOG.warn(
                            "RL-417 {} calls are in flight in this instance, as many as it can renew, so further ones of"
                                    + " policy '{}' are denied; logged again in 60 s at the earliest",
                            running.get(),
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

    /** The parts of a call, of which those that may begin one in flight have an id. */
    List<Call.Part> begin(List<Call.Part> parts) {
        List<Call.Part> withIds = parts;
        for (int i = 0; i < parts.size(); i++) {
            Call.Part part = parts.get(i);
            if (part.begins()) {
                withIds = withIds == parts ? new ArrayList<>(parts) : withIds;
                withIds.set(i, part.with(new FlightCall(part)));
            }
        }
        return withIds;
    }

    /** Looks again and again, as long as there are calls. */
    private void schedule() {
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
                schedule();
            }
        }
    }

    /** Looks at each of them once, or until it has sent enough: then it goes on there the next time. Returns how much it sent. */
    private synchronized int sendDue() {
        long now = time.nowMicros();
        int most = failing ? 1 : TOGETHER;
        int sent = 0;
        if (failing) {
            calls.forEach(call -> call.tryForget(now));
        }
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

    /** Ends all of them, in portions, as long as Redis answers. */
    void close() {
        calls.forEach(FlightCall::endSoon);
        long until = time.nowMicros() + LONGEST_CLOSING_MICROS;
        failing = false;
        // One that is not answered fails at its deadline.
        for (int aim = calls.size(); !calls.isEmpty() && !failing && time.nowMicros() < until; ) {
            if (calls.size() <= aim) {
                aim = calls.size() - sendDue();
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Redis did not hold the permits of a call that is in flight, and does again; so many are held above the limit now. */
    private void heldAgain(Charge charge, long above) {
        if (losses.tryPass()) {
            LOG.warn(
                    "RL-416 policy '{}': Redis had lost permits of calls that are in flight here, and holds them again;"
                            + " {} are held above the limit now; logged again in 60 s at the earliest",
                    charge.policy().name(),
                    Math.max(0, above));
        }
    }

    /**
     * Takes note of the answer to a call.
     *
     * @param reply null for none
     * @param sent whether it may have run
     */
    static void answered(List<Call.Part> parts, @Nullable List<?> reply, boolean sent) {
        for (int i = 0; i < parts.size(); i++) {
            FlightCall call = parts.get(i).flight();
            if (call != null) {
                List<?> numbers = reply != null && reply.size() == Call.NUMBERS * parts.size() ? reply : null;
                call.answered(parts.get(i).mode(), numbers, i * Call.NUMBERS, isAllowed(parts, numbers), sent);
            }
        }
    }

    /** The answer to a call came after its caller stopped waiting. */
    static void answeredLate(List<Call.Part> parts, @Nullable List<?> reply) {
        for (Call.Part part : parts) {
            boolean mayHold = part.begins() && (reply == null || isAllowed(parts, reply));
            if (part.flight() != null && (mayHold || part.mode().equals(Call.AGAIN))) {
                part.flight().heldLate();
            }
        }
    }

    private static boolean isAllowed(List<Call.Part> parts, @Nullable List<?> reply) {
        for (int i = 0; reply != null && i < parts.size(); i++) {
            if (Reply.number(reply, i * Call.NUMBERS) != 1) {
                return false;
            }
        }
        return reply != null;
    }

    /**
     * The permits that one call holds of one state in Redis, under an id of its own. Until the call ends they are renewed, and held again,
     * without asking, where Redis says that they are missing. The end is sent until it is answered, and once more after each answer to
     * what may have run behind it. All of this may be repeated, so nothing has to be known of what is on its way. Thread-safe, under its
     * own lock.
     */
    final class FlightCall implements LimitOutcome.Holder {
        final String id = instance + Long.toHexString(begun.incrementAndGet());
        private final Call.Part part;

        /** When something has to be sent. */
        private volatile long dueMicros = NOT_DUE;

        /** Redis does not hold them. */
        private boolean isMissing;

        /** It was granted and has not ended. */
        private boolean isRunning;
        /** When what Redis may hold after the end has run out. */
        private long overMicros;

        /** @param part the part of the call that takes the permits */
        private FlightCall(Call.Part part) {
            this.part = part;
        }

        private void keep(long atMicros) {
            dueMicros = atMicros;
            calls.add(this);
            schedule();
        }

        @Override
        public boolean end(LimitOutcome ended) {
            Call.Part end;
            synchronized (this) {
                if (!ended.claimEnd(Access.LIBRARY)) {
                    return false;
                }
                end = end();
            }
            sender.send(end);
            return true;
        }

        /** The part of a call that ends it. */
        synchronized Call.Part end() {
            running.addAndGet(isRunning ? -1 : 0);
            isRunning = false;
            overMicros = time.nowMicros() + part.limit().periodMicros();
            return part(Call.END);
        }

        private synchronized void endSoon() {
            end();
            keep(time.nowMicros());
        }

        /** The part of a call that is sent now, so that nothing is due any more. */
        private Call.Part part(String mode) {
            dueMicros = NOT_DUE;
            return new Call.Part(part.key(), part.charge(), part.limit(), mode, false, null, this);
        }

        private long renewsAt(long nowMicros) {
            return nowMicros + betweenMicros(part.limit());
        }

        /** What has to be sent now; null for nothing. */
        private Call.@Nullable Part due(long nowMicros) {
            // Without the lock, because each of them is looked at often: what is sent twice does no harm.
            return dueMicros <= nowMicros ? dueNow(nowMicros) : null;
        }

        private synchronized Call.@Nullable Part dueNow(long nowMicros) {
            return tryForget(nowMicros) ? null : part(isRunning ? isMissing ? Call.AGAIN : Call.RENEW : Call.END);
        }

        /** It is over if what Redis may hold after the end has run out. Returns whether it was. */
        private synchronized boolean tryForget(long nowMicros) {
            return !isRunning && nowMicros > overMicros && calls.remove(this);
        }

        /** Redis may hold it since a moment ago, when it may have ended already. */
        private synchronized void heldLate() {
            if (!isRunning) {
                endSoon();
            }
        }

        private synchronized void answered(
                String mode, @Nullable List<?> reply, int at, boolean isAllowed, boolean sent) {
            long now = time.nowMicros();
            long later = now + AGAIN_MICROS;
            switch (mode) {
                case Call.TAKE -> {
                    if (reply == null && sent && calls.size() < MOST) {
                        endSoon();
                    } else if (isAllowed) {
                        isRunning = true;
                        running.incrementAndGet();
                        keep(renewsAt(now));
                    }
                    return;
                }
                case Call.RENEW -> {
                    isMissing = reply != null && !isAllowed;
                    if (isRunning) {
                        dueMicros = reply == null ? later : isMissing ? now : renewsAt(now);
                    }
                }
                case Call.AGAIN -> {
                    isMissing &= reply == null;
                    dueMicros = reply == null ? later : renewsAt(now);
                    heldLate();
                    if (reply != null) {
                        heldAgain(part.charge(), -Reply.number(reply, at + 1));
                    }
                }
                default -> {
                    if (reply == null) {
                        keep(Math.min(dueMicros, later));
                    } else if (dueMicros == NOT_DUE) {
                        calls.remove(this);
                    }
                }
            }
            failing = reply == null;
        }
    }
}
