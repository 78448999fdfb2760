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
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The denials that {@link LimiterMonitor} shows, and their lines in the log. Thread-safe. */
final class DenialRecord {
    static final int STRIPES = 4;

    /** By the name that configurations of logs use. */
    private static final Logger LOG = DiagnosticLog.of("io.limiter.Denials");

    private final TimeSource time;
    private final List<RuleNames> rules = new CopyOnWriteArrayList<>();
    private final LongAdder notLogged = new LongAdder();

    private volatile Settings settings;

    /** @param log null where nothing is logged */
    private record Settings(int keys, @Nullable Throttle log, List<DenialSample> samples) {}

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
        this.settings = settings(LimiterMonitor.DEFAULT_LINES_PER_SECOND, LimiterMonitor.DEFAULT_KEYS, List.of());
    }

    void configure(int linesPerSecond, int keys) {
        if (linesPerSecond < 0 || linesPerSecond > 1_000 || keys < 0 || keys > 10_000) {
            throw new IllegalArgumentException(
                    linesPerSecond + " lines and " + keys + " keys; write 0 to 1 000 lines, and 0 to 10 000 keys");
        }
        Settings before = settings;
        settings = settings(linesPerSecond, keys, before.keys == keys ? before.samples : List.of());
    }

    private Settings settings(int linesPerSecond, int keys, List<DenialSample> known) {
        Throttle log = linesPerSecond == 0 ? null : new Throttle(time::nowMicros, 1_000_000 / linesPerSecond);
        List<DenialSample> samples = known.isEmpty()
                ? Stream.generate(() -> new DenialSample(keys, time.nowMicros()))
                        .limit(STRIPES)
                        .toList()
                : known;
        return new Settings(keys, log, samples);
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
        settings.samples.forEach(sample -> sample.addTo(sum, now));
        return sum.values().stream()
                .sorted(Comparator.comparingLong(entry -> -entry.count()))
                .limit(Math.min(most, settings.keys))
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
        Settings now = settings;
        DenialSample sample = now.samples.get((int) Thread.currentThread().getId() & STRIPES - 1);
        if (sample.leavesOut()) {
            return;
        }
        int denials = sample.add(denial, shadow, time.nowMicros());
        if (denials > 0 && now.log != null) {
            if (now.log.tryPass()) {
                write(denial, shadow, logging);
            } else {
                notLogged.add(denials);
            }
        }
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
        LOG.info(
                "RL-405 {}: rule {}, policy {}, limit {}, key {}, wait {}, source {}; denials not logged since the last"
                        + " line: {}",
                shadow ? "would be denied (shadow)" : "denied",
                names.isEmpty() ? "none" : String.join(" or ", names),
                charge.policy().name(),
                binding == null ? "unknown" : "'" + binding.limit() + "'",
                DenialSample.bounded(charge.key()),
                denial.retryAfter().map(Duration::toString).orElse("never"),
                denial.source().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                notLogged.sumThenReset());
    }
}
