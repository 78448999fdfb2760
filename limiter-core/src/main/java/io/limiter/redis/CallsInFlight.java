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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What this instance holds of states in Redis of calls in flight. Thread-safe. */
final class CallsInFlight {
    /** How many states. Calls for further ones are denied: nobody would renew their permits. */
    static final int MOST = 100_000;

    private static final Logger LOG = DiagnosticLog.of(CallsInFlight.class);
    private static final int NUMBER_BITS = 52;
    private static final TimeSource TIME = TimeSource.system();

    private final RedisKeys keys;
    /** A random one for each instance: the number of most of its entries. Others have the numbers that follow. */
    private final long instance = ThreadLocalRandom.current().nextLong() >>> (Long.SIZE - NUMBER_BITS);

    private final AtomicLong others = new AtomicLong(instance);
    /**
     * The entries of each state; most have one. No thread that changes this takes the lock of an entry meanwhile: those that
     * have it change this.
     */
    private final Map<String, List<FlightEntry>> entries = new ConcurrentHashMap<>();

    private final Sender sender;
    private volatile FlightListener listener = (policy, permits, above) -> {};

    private final Throttle warnings = new Throttle(TIME::nowMicros, 60_000_000);

    /** Sends what this instance holds. */
    interface Sender {
        /** There is an entry, to be renewed from now on. */
        void begin();

        /** Renews them before anything else is sent. */
        void renew(Stream<FlightEntry> entries);

        /** Ends a call. */
        void end(Call.Part part);
    }

    /** @param sender makes what sends these */
    CallsInFlight(RedisKeys keys, Function<CallsInFlight, Sender> sender) {
        this.keys = keys;
        this.sender = sender.apply(this);
    }

    void onHeldAgain(FlightListener other) {
        listener = other;
    }

    long nowMicros() {
        return TIME.nowMicros();
    }

    boolean isFull() {
        return entries.size() >= MOST;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    Stream<FlightEntry> entries() {
        return entries.values().stream().flatMap(List::stream);
    }

    private List<FlightEntry> of(String key) {
        return entries.getOrDefault(key, List.of());
    }

    /** The denial of a call for a state that can't be renewed because there are too many; null for none. */
    @Nullable
    Decision denial(List<Charge> charges) {
        if (!isFull()) {
            return null;
        }
        for (Charge charge : charges) {
            Limit limit = charge.policy().limits().get(0);
            if (charge.policy().isInFlight()
                    && charge.permits() > 0
                    && !entries.containsKey(keys.of(charge.policy(), charge.key(), limit))) {
                if (warnings.tryPass()) {
                    LOG.warn(
                            "RL-417 calls of {} keys are in flight in this instance, more than it can renew, so calls for"
                                    + " other keys are denied; logged again in 60 s at the earliest",
                            MOST);
                }
                return Decision.of(
                        Decision.Source.CACHED_DENIAL,
                        charges,
                        List.of(LimitOutcome.of(charge, limit, false, 0, LimitOutcome.UNKNOWN, 0, 0, 0)));
            }
        }
        return null;
    }

    /** The parts of a call, which tell what this instance holds. */
    List<Call.Part> begin(List<Call.Part> parts) {
        List<Call.Part> begun = parts;
        for (int i = 0; i < parts.size(); i++) {
            Call.Part part = parts.get(i);
            boolean counts =
                    part.limit().spec().algorithm().isInFlight() && part.limit().permits() > 0;
            FlightEntry entry = null;
            if (counts) {
                List<FlightEntry> known = of(part.key());
                if (areUnknown(known)) {
                    sender.renew(known.stream().filter(one -> one.isUnknown));
                }
                entry = part.isTake()
                        ? begin(part)
                        : known.stream().filter(FlightEntry::takes).findFirst().orElse(null);
            }
            if (entry != null) {
                begun = begun == parts ? new ArrayList<>(parts) : begun;
                begun.set(i, part.with(entry));
            }
        }
        return begun;
    }

    private static boolean areUnknown(List<FlightEntry> known) {
        // No stream: called for each call.
        for (FlightEntry entry : known) {
            if (entry.isUnknown) {
                return true;
            }
        }
        return false;
    }

    private FlightEntry begin(Call.Part part) {
        while (true) {
            List<FlightEntry> known = of(part.key());
            for (FlightEntry entry : known) {
                if (entry.tryBegin(part)) {
                    return entry;
                }
            }
            add(part, known, number -> new FlightEntry(this, part, number));
        }
    }

    /** Adds an entry to those of a state, unless these are not all any more. */
    private void add(Call.Part part, List<FlightEntry> known, Function<Long, FlightEntry> make) {
        entries.compute(part.key(), (key, now) -> {
            if (!known.equals(now == null ? List.of() : now)) {
                return now;
            }
            boolean isUsual = known.stream().noneMatch(entry -> entry.number == instance);
            FlightEntry made = make.apply(isUsual ? instance : others.incrementAndGet());
            return Stream.concat(known.stream(), Stream.of(made)).toList();
        });
        sender.begin();
    }

    void remove(FlightEntry entry) {
        entries.computeIfPresent(entry.key, (key, now) -> {
            List<FlightEntry> rest = now.stream().filter(one -> one != entry).toList();
            return rest.isEmpty() ? null : rest;
        });
    }

    void send(Call.Part end) {
        sender.end(end);
    }

    /** Holds in Redis too what was decided without it, until it ends there too. */
    void adopt(Decision decision) {
        for (LimitOutcome outcome : decision.outcomes()) {
            if (outcome.isInFlight() && !isFull()) {
                String key = keys.of(outcome.policy(), outcome.charge().key(), outcome.limit());
                Limit whole = whole(decision.charges(), outcome);
                FlightEntry entry = adopt(new Call.Part(key, outcome.charge(), whole, Call.TAKE, false, 0, null, null));
                LimitOutcome.Holder local = outcome.holder(Access.LIBRARY);
                outcome.heldBy(
                        Access.LIBRARY,
                        local == null
                                ? entry
                                : ended -> {
                                    boolean first = local.end(ended);
                                    if (first) {
                                        send(entry.back(ended));
                                    }
                                    return first;
                                });
            }
        }
    }

    private FlightEntry adopt(Call.Part part) {
        while (true) {
            List<FlightEntry> known = of(part.key());
            for (FlightEntry entry : known) {
                if (entry.tryAdopt(part.charge().permits())) {
                    return entry;
                }
            }
            add(part, known, usual -> FlightEntry.unknown(this, part, others.incrementAndGet()));
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

    /** Redis had lost permits of this instance, which are held again; so many are held above the limit now. */
    void heldAgain(Call.Part part, long permits, long above) {
        if (permits > 0) {
            listener.heldAgain(part.charge().policy(), permits, Math.min(permits, Math.max(0, above)));
        }
    }
}
