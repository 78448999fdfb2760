package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/** Counts what becomes of reservations, and keeps the open ones that this JVM made. Thread-safe. */
final class HoldCounts {
    /** Further ones are not shown. */
    static final int MOST_OPEN = 100_000;

    private static final Logger LOG = DiagnosticLog.of("io.limiter.engine.Reservations");
    private static final long LOG_EVERY_MICROS = 60_000_000;

    private final LongSupplier nowMicros;
    private final Map<String, Map<HoldCount, LongAdder>> counts = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> heldPermits = new ConcurrentHashMap<>();
    private final ConcurrentSkipListMap<Key, Open> open = new ConcurrentSkipListMap<>();
    private final Map<String, Long> ends = new ConcurrentHashMap<>();
    private final Map<HoldCount, Throttle> lines = new EnumMap<>(HoldCount.class);

    /** A hold in the order of ends. */
    record Key(long endMicros, String id) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int order = Long.compare(endMicros, other.endMicros);
            return order != 0 ? order : id.compareTo(other.id);
        }
    }

    private record Open(String policy, long permits) {}

    HoldCounts(LongSupplier nowMicros) {
        this.nowMicros = nowMicros;
        for (HoldCount what : HoldCount.values()) {
            lines.put(what, new Throttle(nowMicros, LOG_EVERY_MICROS));
        }
    }

    void add(String policy, HoldCount what, long number) {
        if (number > 0) {
            String name = counts.size() < EngineMonitor.MOST_POLICIES || counts.containsKey(policy)
                    ? policy
                    : EngineMonitor.OTHERS;
            counts.computeIfAbsent(name, none -> new ConcurrentHashMap<>())
                    .computeIfAbsent(what, none -> new LongAdder())
                    .add(number);
        }
    }

    /** The same, with a line in the log, not too often. */
    void warn(String policy, HoldCount what, String code, String text) {
        add(policy, what, 1);
        Throttle throttle = lines.get(what);
        if (throttle != null && throttle.tryPass()) {
            LOG.warn(
                    "{} policy '{}': {}; {} so far; logged again in 60 s at the earliest",
                    code,
                    policy,
                    text,
                    sum(policy, what));
        }
    }

    long sum(String policy, HoldCount what) {
        end();
        LongAdder count = counts.getOrDefault(policy, Map.of()).get(what);
        return count == null ? 0 : count.sum();
    }

    long held(String policy) {
        end();
        LongAdder permits = heldPermits.get(policy);
        return permits == null ? 0 : permits.sum();
    }

    /** Notes what a hold of this JVM has taken. */
    void begin(String id, Charge charge, long endMicros) {
        end();
        String name = name(id, charge);
        String policy = charge.policy().name();
        long permits = charge.permits();
        if (ends.size() < MOST_OPEN && ends.putIfAbsent(name, endMicros) == null) {
            open.put(new Key(endMicros, name), new Open(policy, permits));
            heldPermits.computeIfAbsent(policy, none -> new LongAdder()).add(permits);
        }
    }

    /** It is settled. */
    void end(String id, Charge charge) {
        String name = name(id, charge);
        Long end = ends.get(name);
        if (end != null) {
            remove(new Key(end, name));
        }
    }

    /** Names one charge of a hold. */
    private static String name(String id, Charge charge) {
        return id + Objects.hash(charge.policy().name(), charge.key());
    }

    private boolean remove(Key key) {
        Open gone = open.remove(key);
        if (gone == null) {
            return false;
        }
        ends.remove(key.id);
        LongAdder permits = heldPermits.get(gone.policy);
        if (permits != null) {
            permits.add(-gone.permits);
        }
        return true;
    }

    /** Counts those that have run out. */
    private void end() {
        Map.Entry<Key, Open> first = open.firstEntry();
        while (first != null && first.getKey().endMicros <= nowMicros.getAsLong()) {
            if (remove(first.getKey())) {
                add(first.getValue().policy, HoldCount.EXPIRED, 1);
            }
            first = open.firstEntry();
        }
    }
}
