package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.LimiterMonitor.DeniedKey;
import io.limiter.LimiterMonitor.RuleNames;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The denials that {@link LimiterMonitor} shows: those of the current period and of the one before; and their lines in the log.
 * Decides whether a flood requires sampling. Thread-safe.
 */
final class DenialRecord {
    /** The number of denials that a recorded one represents in a flood. A power of two. */
    static final int SAMPLED = 64;

    /** A key is counted for one to two of these. */
    static final long PERIOD_MICROS = 600_000_000;

    /** The hash of a longer key is kept instead; only code makes such keys. */
    static final int LONGEST_KEY = 512;

    private static final long WINDOW_MICROS = 10_000;
    private static final int MOST_IN_WINDOW = 100;

    /** By the name that configurations of logs use. */
    private static final Logger LOG = DiagnosticLog.of("io.limiter.Denials");

    private final TimeSource time;
    private final List<RuleNames> rules = new CopyOnWriteArrayList<>();
    private final LongAdder notLogged = new LongAdder();
    /** Null where nothing is logged. */
    private volatile @Nullable Throttle lines;

    private volatile boolean isFlood;

    private final ReentrantLock lock = new ReentrantLock();
    // All that follows is guarded by it.
    private int keys;
    private DeniedKeys present = new DeniedKeys(0);
    private DeniedKeys before = present;
    private long periodStart;
    private long windowStart;
    private int inWindow;

    private record Shown(
            String policy,
            PartitionKey key,
            boolean shadow,
            List<String> rules,
            long denied,
            long excess,
            @Nullable String limit,
            Decision.Source source,
            Duration sinceLast,
            @Nullable Duration retryAfter)
            implements DeniedKey {}

    DenialRecord(TimeSource time) {
        this.time = time;
        this.periodStart = time.nowMicros();
        this.windowStart = periodStart;
        configure(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS);
    }

    void configure(int linesPerSecond, int mostKeys) {
        if (linesPerSecond < 0 || linesPerSecond > 1_000 || mostKeys < 0 || mostKeys > 10_000) {
            throw new IllegalArgumentException(
                    linesPerSecond + " lines and " + mostKeys + " keys; write 0 to 1 000 lines, and 0 to 10 000 keys");
        }
        lines = linesPerSecond == 0 ? null : new Throttle(time::nowMicros, 1_000_000 / linesPerSecond);
        lock.lock();
        try {
            if (mostKeys != keys) {
                keys = mostKeys;
                present = new DeniedKeys(mostKeys);
                before = new DeniedKeys(mostKeys);
            }
        } finally {
            lock.unlock();
        }
    }

    Runnable register(RuleNames naming) {
        rules.add(naming);
        return () -> rules.remove(naming);
    }

    private List<String> rulesOf(String policy, boolean shadow) {
        return rules.stream()
                .flatMap(naming -> naming.of(policy, shadow))
                .distinct()
                .toList();
    }

    List<DeniedKey> busiest(int most) {
        long now = time.nowMicros();
        Map<DeniedKeys.Id, DeniedKeys.Entry> sum = new HashMap<>();
        long shown;
        lock.lock();
        try {
            turn(now);
            shown = Math.min(most, keys);
            for (DeniedKeys ofPeriod : List.of(present, before)) {
                ofPeriod.entries().forEach(entry -> sum.merge(entry.id(), entry, DeniedKeys.Entry::plus));
            }
        } finally {
            lock.unlock();
        }
        return sum.values().stream()
                .sorted(Comparator.comparingLong(entry -> -entry.count()))
                .limit(shown)
                .<DeniedKey>map(entry -> shown(entry, now))
                .toList();
    }

    private Shown shown(DeniedKeys.Entry entry, long now) {
        DeniedKeys.Id id = entry.id();
        long ago = now - entry.lastMicros();
        return new Shown(
                id.policy(),
                id.key(),
                id.shadow(),
                rulesOf(id.policy(), id.shadow()),
                entry.count(),
                entry.excess(),
                entry.limit() == null ? null : entry.limit().toString(),
                entry.source(),
                duration(ago),
                entry.retryAfterMicros() == LimitOutcome.NEVER
                        ? null
                        : duration(Math.max(0, entry.retryAfterMicros() - ago)));
    }

    private static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /**
     * Records a denial. In a flood most calls return at once.
     *
     * @param logging writes the line: the thread may be one that reads Redis' answers
     */
    void add(Decision denial, boolean shadow, Executor logging) {
        // At random, so that threads do not write to the same memory.
        if (isFlood && (ThreadLocalRandom.current().nextInt() & SAMPLED - 1) != 0) {
            return;
        }
        int denials = note(denial, shadow);
        Throttle log = lines;
        if (denials > 0 && log != null) {
            if (log.tryPass()) {
                write(denial, shadow, logging);
            } else {
                notLogged.add(denials);
            }
        }
    }

    /**
     * Counts a denial, unless another thread counts one at this moment: no thread waits for this.
     *
     * @return how many denials it counted as; 0 if it was left out
     */
    private int note(Decision denial, boolean shadow) {
        long now = time.nowMicros();
        if (!lock.tryLock()) {
            return 0;
        }
        try {
            int denials = isFlood ? SAMPLED : 1;
            watch(denials, now);
            if (keys > 0) {
                turn(now);
                count(denial, shadow, denials, now);
            }
            return denials;
        } finally {
            lock.unlock();
        }
    }

    private void watch(int denials, long now) {
        boolean flood = isFlood;
        if (now - windowStart >= WINDOW_MICROS) {
            // A window that ended long ago was followed by quiet ones.
            flood = inWindow > MOST_IN_WINDOW && now - windowStart < 2 * WINDOW_MICROS;
            windowStart = now;
            inWindow = 0;
        }
        inWindow += denials;
        isFlood = flood || inWindow > MOST_IN_WINDOW;
    }

    private void turn(long now) {
        if (now - periodStart >= PERIOD_MICROS) {
            before = now - periodStart < 2 * PERIOD_MICROS ? present : new DeniedKeys(keys);
            present = new DeniedKeys(keys);
            periodStart = now;
        }
    }

    /** A charge that two limits deny counts once, with the longer wait. */
    private void count(Decision denial, boolean shadow, int denials, long now) {
        List<LimitOutcome> violated = denial.violated();
        Map<Charge, LimitOutcome> longest;
        if (violated.size() == 1) {
            longest = Map.of(violated.get(0).charge(), violated.get(0));
        } else {
            longest = new HashMap<>();
            violated.forEach(outcome -> longest.merge(outcome.charge(), outcome, DenialRecord::longer));
        }
        for (Charge charge : longest.isEmpty() ? denial.charges() : longest.keySet()) {
            LimitOutcome by = longest.get(charge);
            present.add(new DeniedKeys.Entry(
                    new DeniedKeys.Id(charge.policy().name(), bounded(charge.key()), shadow),
                    denials,
                    0,
                    denial.source(),
                    by == null ? null : by.limit(),
                    by == null ? denial.retryAfterMicros() : by.retryAfterMicros(),
                    now));
        }
    }

    private static LimitOutcome longer(LimitOutcome one, LimitOutcome other) {
        return LimitOutcome.compareWaits(one.retryAfterMicros(), other.retryAfterMicros()) < 0 ? other : one;
    }

    /** The key, or where that is very long its hash. */
    private static PartitionKey bounded(PartitionKey key) {
        return key.canonical().length() <= LONGEST_KEY ? key : PartitionKey.of(key.canonical());
    }

    private void write(Decision denial, boolean shadow, Executor logging) {
        try {
            logging.execute(() -> log(denial, shadow));
        } catch (RuntimeException failed) {
            // The call is denied all the same, not failed.
            LOG.debug("a denial was not logged", failed);
        }
    }

    private void log(Decision denial, boolean shadow) {
        LimitOutcome binding = denial.binding().orElse(null);
        Charge charge = binding == null ? denial.charges().get(0) : binding.charge();
        List<String> names = rulesOf(charge.policy().name(), shadow);
        String operator = rules.stream()
                .map(naming -> naming.operator(charge.policy().name(), charge.key()))
                .filter(text -> !text.isEmpty())
                .map(text -> " (" + text + ")")
                .collect(Collectors.joining());
        LOG.info(
                "RL-405 {}: rule {}, policy {}, limit {}, key {}, wait {}, source {}{}; denials not logged since the last"
                        + " line: {}",
                shadow ? "would be denied (shadow)" : "denied",
                names.isEmpty() ? "none" : String.join(" or ", names),
                charge.policy().name(),
                binding == null ? "unknown" : "'" + binding.limit() + "'",
                bounded(charge.key()),
                denial.retryAfter().map(Duration::toString).orElse(denial.isRetryUnknown() ? "unknown" : "never"),
                denial.source().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                operator,
                notLogged.sumThenReset());
    }
}
