package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.LimiterMonitor.DeniedKey;
import io.limiter.LimiterMonitor.RuleNames;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys that are denied, which {@link LimiterMonitor} shows, and the lines in the log. Of any number of keys those are kept that were
 * denied last, and of those that will be displaced next the busier ones. Decides whether a flood requires sampling. Thread-safe.
 */
final class DenialRecord {
    /** The number of denials that a recorded one represents in a flood. A power of two. */
    static final int SAMPLED = 64;

    /** After so long a denial counts for e times less: at a steady rate, those of so long count. */
    private static final double DECAY_MICROS = 600e6;

    /** The hash of a longer key is kept instead; only code makes such keys. */
    static final int LONGEST_KEY = 512;

    private static final long WINDOW_MICROS = 10_000;
    private static final int MOST_IN_WINDOW = 100;
    /** How many of the oldest keys are compared to displace one. */
    private static final int LOOKS = 8;

    /** By the name that configurations of logs use. */
    private static final Logger LOG = LoggerFactory.getLogger("io.limiter.Denials");

    private final TimeSource time;
    private final List<RuleNames> rules = new CopyOnWriteArrayList<>();
    private final LongAdder notLogged = new LongAdder();
    /** Null where nothing is logged. */
    private volatile @Nullable Throttle lines;

    private volatile boolean isFlood;

    // All that follows is guarded by the lock of this, which nobody holds for long; in a flood few threads take it.
    /** The one that was denied last is the last one. */
    private final Map<Id, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

    private int keys;
    private long windowStart;
    private int inWindow;

    private record Id(String policy, PartitionKey key, boolean shadow) {}

    /** Denials of a key: about how many in the last ten minutes, and the last of them. */
    private record Entry(
            double count, Decision.Source source, @Nullable Limit limit, long retryAfterMicros, long lastMicros) {
        /** How many count now. */
        double denied(long now) {
            return count * Math.exp((lastMicros - now) / DECAY_MICROS);
        }
    }

    DenialRecord(TimeSource time) {
        this.time = time;
        this.windowStart = time.nowMicros();
        configure(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS);
    }

    void configure(int linesPerSecond, int mostKeys) {
        if (linesPerSecond < 0 || linesPerSecond > 1_000 || mostKeys < 0 || mostKeys > 10_000) {
            throw new IllegalArgumentException(
                    linesPerSecond + " lines and " + mostKeys + " keys; write 0 to 1 000 lines, and 0 to 10 000 keys");
        }
        lines = linesPerSecond == 0 ? null : new Throttle(time::nowMicros, 1_000_000 / linesPerSecond);
        synchronized (this) {
            keys = mostKeys;
            displace();
        }
    }

    /** Of those that were not denied for longest, the one that was denied least: a spray of keys does not displace a busy one. */
    private void displace() {
        while (entries.size() > keys) {
            entries.remove(entries.entrySet().stream()
                    .limit(LOOKS)
                    .min(Comparator.comparingDouble(entry -> entry.getValue().count))
                    .orElseThrow()
                    .getKey());
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
        Map<Id, Entry> copy;
        synchronized (this) {
            copy = new HashMap<>(entries);
        }
        return copy.entrySet().stream()
                .map(one -> shown(one.getKey(), one.getValue(), now))
                .filter(one -> one.denied() > 0)
                .sorted(Comparator.comparingLong(one -> -one.denied()))
                .limit(most)
                .toList();
    }

    private DeniedKey shown(Id id, Entry entry, long now) {
        long ago = now - entry.lastMicros;
        long wait = entry.retryAfterMicros;
        return new DeniedKey(
                id.policy,
                id.key,
                id.shadow,
                rulesOf(id.policy, id.shadow),
                Math.round(entry.denied(now)),
                entry.limit == null ? null : entry.limit.toString(),
                entry.source,
                Duration.of(ago, ChronoUnit.MICROS),
                wait == LimitOutcome.NEVER ? null : Duration.of(Math.max(0, wait - ago), ChronoUnit.MICROS));
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
        int denials = count(denial, shadow);
        Throttle log = lines;
        if (log != null && !log.tryPass()) {
            notLogged.add(denials);
        } else if (log != null) {
            try {
                logging.execute(() -> log(denial, shadow));
            } catch (RuntimeException failed) {
                // The call is denied all the same, not failed.
                LOG.debug("a denial was not logged", failed);
            }
        }
    }

    /** Counts a denial, and in a flood those that it represents; returns how many. */
    private synchronized int count(Decision denial, boolean shadow) {
        long now = time.nowMicros();
        int denials = isFlood ? SAMPLED : 1;
        inWindow += denials;
        if (inWindow > MOST_IN_WINDOW || now - windowStart >= WINDOW_MICROS) {
            isFlood = now - windowStart < WINDOW_MICROS;
            windowStart = now;
            inWindow = 0;
        }
        Charge charge = charge(denial);
        Id id = new Id(charge.policy().name(), bounded(charge.key()), shadow);
        Entry old = entries.get(id);
        double count = denials + (old == null ? 0 : old.denied(now));
        Limit limit = denial.binding().map(LimitOutcome::limit).orElse(null);
        entries.put(id, new Entry(count, denial.source(), limit, denial.retryAfterMicros(), now));
        displace();
        return denials;
    }

    /** The charge that was denied; of several the one with the longest wait; where nothing could be counted, the first one. */
    private static Charge charge(Decision denial) {
        return denial.binding()
                .map(LimitOutcome::charge)
                .orElseGet(() -> denial.charges().get(0));
    }

    /** The key, or where that is very long its hash. */
    private static PartitionKey bounded(PartitionKey key) {
        return key.canonical().length() <= LONGEST_KEY ? key : PartitionKey.of(key.canonical());
    }

    private void log(Decision denial, boolean shadow) {
        LimitOutcome binding = denial.binding().orElse(null);
        Charge charge = charge(denial);
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
