package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What this instance holds of states in Redis of calls in flight. Thread-safe. */
final class CallsInFlight {
    /** How many states. Calls for further ones are denied: nobody would renew their permits. */
    static final int MOST = 100_000;

    private static final Logger LOG = DiagnosticLog.of(CallsInFlight.class);
    private static final int MOST_POLICIES = 1_000;
    private static final int NUMBER_BITS = 52;
    private static final TimeSource TIME = TimeSource.system();

    private final RedisKeys keys;
    /** A random one for each instance: the number of most of its entries. Others have the numbers that follow. */
    private final long instance = ThreadLocalRandom.current().nextLong() >>> (Long.SIZE - NUMBER_BITS);

    private final AtomicLong others = new AtomicLong(instance);
    /** The entry of each state that takes permits. */
    private final Map<String, FlightEntry> current = new ConcurrentHashMap<>();

    private final Map<Id, FlightEntry> all = new ConcurrentHashMap<>();
    /** Those of what was decided elsewhere. */
    private final Map<LimitOutcome, FlightEntry> adopted = Collections.synchronizedMap(new IdentityHashMap<>());

    private final Map<LimiterMonitor.FlightCount, Map<String, LongAdder>> counts =
            new EnumMap<>(LimiterMonitor.FlightCount.class);
    /** Those of which Redis has not answered that it knows them, by state. */
    private final Map<String, List<FlightEntry>> unknown = new ConcurrentHashMap<>();
    /** Begins the renewals. */
    private volatile Runnable begins = () -> {};
    /** Sends renewals before anything else. */
    private volatile Consumer<List<FlightEntry>> tells = entries -> {};

    private final Throttle warnings = new Throttle(TIME::nowMicros, 60_000_000);

    private record Id(String key, long number) {}

    CallsInFlight(RedisKeys keys) {
        this.keys = keys;
        for (LimiterMonitor.FlightCount what : LimiterMonitor.FlightCount.values()) {
            counts.put(what, new ConcurrentHashMap<>());
        }
    }

    /** Sets what is run when there is an entry, and before a state is asked of which Redis does not know all. */
    void onEntry(Runnable action, Consumer<List<FlightEntry>> before) {
        begins = action;
        tells = before;
    }

    private void add(FlightEntry entry) {
        all.put(new Id(entry.key, entry.number), entry);
        begins.run();
    }

    long nowMicros() {
        return TIME.nowMicros();
    }

    boolean isFull() {
        return all.size() >= MOST;
    }

    Collection<FlightEntry> entries() {
        return all.values();
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
                    && !current.containsKey(keys.of(charge.policy(), charge.key(), limit))) {
                if (warnings.tryPass()) {
                    LOG.warn(
                            "RL-417 calls of {} keys are in flight in this instance, more than it can renew, so calls for"
                                    + " other keys are denied; logged again in 60 s at the earliest",
                            MOST);
                }
                return Decision.of(
                        Decision.Source.CACHED_DENIAL,
                        charges,
                        List.of(new LimitOutcome(charge, limit, false, 0, LimitOutcome.UNKNOWN, 0, 0, 0)));
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
            List<FlightEntry> first = counts ? unknown.get(part.key()) : null;
            if (first != null) {
                tells.accept(first);
            }
            FlightEntry entry = !counts ? null : part.isTake() ? begin(part) : current.get(part.key());
            if (entry != null) {
                begun = begun == parts ? new ArrayList<>(parts) : begun;
                begun.set(i, part.with(entry));
            }
        }
        return begun;
    }

    private FlightEntry begin(Call.Part part) {
        while (true) {
            FlightEntry entry = current.computeIfAbsent(part.key(), key -> entry(part));
            if (entry.tryBegin(part)) {
                return entry;
            }
            current.remove(part.key(), entry);
        }
    }

    private FlightEntry entry(Call.Part part) {
        FlightEntry usual = all.get(new Id(part.key(), instance));
        if (usual != null && usual.tryReuse()) {
            return usual;
        }
        FlightEntry made = new FlightEntry(this, part, usual == null ? instance : others.incrementAndGet());
        add(made);
        return made;
    }

    /** It takes no more permits. */
    void retire(FlightEntry entry) {
        current.remove(entry.key, entry);
    }

    /** Redis knows it. */
    void known(FlightEntry entry) {
        unknown.computeIfPresent(entry.key, (key, entries) -> {
            List<FlightEntry> rest =
                    entries.stream().filter(one -> one != entry).toList();
            return rest.isEmpty() ? null : rest;
        });
    }

    void remove(FlightEntry entry) {
        known(entry);
        current.remove(entry.key, entry);
        all.remove(new Id(entry.key, entry.number), entry);
    }

    /** The part of a call that ends what an outcome holds. */
    Call.Part end(LimitOutcome outcome) {
        String key = keys.of(outcome.policy(), outcome.charge().key(), outcome.limit());
        FlightEntry known = adopted.remove(outcome);
        FlightEntry entry = known != null ? known : all.get(new Id(key, outcome.stampMicros()));
        if (entry != null) {
            entry.beginEnd(outcome.charge().permits());
        }
        return new Call.Part(key, outcome.charge(), outcome.limit(), Call.BACK + 0, false, 0, null, entry);
    }

    /** Holds in Redis too what was decided without it. */
    void adopt(Decision decision) {
        for (LimitOutcome outcome : decision.outcomes()) {
            if (outcome.isInFlight() && !isFull()) {
                String key = keys.of(outcome.policy(), outcome.charge().key(), outcome.limit());
                Limit whole = whole(decision.charges(), outcome);
                Call.Part part = new Call.Part(key, outcome.charge(), whole, Call.TAKE, false, 0, null, null);
                adopted.put(
                        outcome,
                        unknown.getOrDefault(key, List.of()).stream()
                                .filter(one -> one.tryAdopt(part.charge().permits()))
                                .findFirst()
                                .orElseGet(() -> addUnknown(part)));
            }
        }
    }

    private FlightEntry addUnknown(Call.Part part) {
        FlightEntry entry = FlightEntry.unknown(this, part, others.incrementAndGet());
        unknown.merge(
                entry.key,
                List.of(entry),
                (before, one) -> Stream.concat(before.stream(), one.stream()).toList());
        add(entry);
        return entry;
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
        if (permits <= 0) {
            return;
        }
        String policy = part.charge().policy().name();
        long over = Math.min(permits, Math.max(0, above));
        count(policy, LimiterMonitor.FlightCount.LOST, permits);
        count(policy, LimiterMonitor.FlightCount.OVERRUN, over);
        if (warnings.tryPass()) {
            LOG.warn(
                    "RL-416 policy '{}': Redis had lost {} permits of calls that are in flight here, and holds them again, {}"
                            + " of them above the limit; so far {} and {}; logged again in 60 s at the earliest",
                    policy,
                    permits,
                    over,
                    sum(policy, LimiterMonitor.FlightCount.LOST),
                    sum(policy, LimiterMonitor.FlightCount.OVERRUN));
        }
    }

    private void count(String policy, LimiterMonitor.FlightCount what, long number) {
        Map<String, LongAdder> byPolicy = counts.get(what);
        if (byPolicy != null && number > 0) {
            String name =
                    byPolicy.size() < MOST_POLICIES || byPolicy.containsKey(policy) ? policy : LimiterMonitor.OTHERS;
            byPolicy.computeIfAbsent(name, none -> new LongAdder()).add(number);
        }
    }

    long sum(String policy, LimiterMonitor.FlightCount what) {
        LongAdder sum = counts.getOrDefault(what, Map.of()).get(policy);
        return sum == null ? 0 : sum.sum();
    }
}
