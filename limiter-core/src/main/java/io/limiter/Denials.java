package io.limiter;

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
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Which keys are denied: some denials as lines in the log (RL-405, logger {@code io.limiter.Denials}), and the keys that are denied
 * most. The memory is bounded, however many different keys are denied. Thread-safe. Peeks are not recorded.
 *
 * <p>Slow floods are counted one by one. Where one thread denies more than about 10 000 calls a second, one denial in
 * about 64 is recorded and counts as 64. Threads do not wait for each other: of two denials at the same moment, one is
 * left out.
 */
public final class Denials {
    /** How many lines are logged in a second, unless configured. */
    public static final int DEFAULT_LINES_PER_SECOND = 1;

    /** How many of the busiest keys are kept, unless configured. */
    public static final int DEFAULT_KEYS = 200;

    static final int STRIPES = 4;

    private static final Logger LOG = DiagnosticLog.of(Denials.class);

    private final TimeSource time;
    private final List<BiFunction<String, Boolean, Stream<String>>> rules = new CopyOnWriteArrayList<>();
    private final LongAdder notLogged = new LongAdder();

    private volatile Settings settings;

    /** @param log null where nothing is logged */
    private record Settings(int keys, @Nullable Throttle log, List<DenialSample> samples) {}

    /**
     * A key that is denied.
     *
     * @param policy the name of the policy that denies it
     * @param key whose quota; secrets in it are hashes, as in the names of states in Redis
     * @param shadow whether calls only would have been denied
     * @param rules the rules and annotated methods that charge the policy, one of which caused the denials; empty if
     *     only code does
     * @param denied how many denials in the last 10 to 20 minutes; an estimate in a flood
     * @param excess how many of them may have been denials of keys that this one has displaced
     * @param limit the limit that caused the last denial, as configuration text; null if nothing could be counted
     * @param source where the last denial came from
     * @param sinceLast the time since the last denial
     * @param retryAfter what is left of the wait that the last denial gave: zero when it is over, null for never
     */
    public record DeniedKey(
            String policy,
            PartitionKey key,
            boolean shadow,
            List<String> rules,
            long denied,
            long excess,
            @Nullable String limit,
            Decision.Source source,
            Duration sinceLast,
            @Nullable Duration retryAfter) {}

    Denials(TimeSource time) {
        this.time = time;
        this.settings = settings(DEFAULT_LINES_PER_SECOND, DEFAULT_KEYS, List.of());
    }

    /**
     * Sets what is recorded from now on; earlier records are kept if the number of keys is the same.
     *
     * @param linesPerSecond the most denials that are logged in a second, up to 1 000; 0 for none
     * @param keys how many keys are recorded, up to 10 000; 0 for none
     * @throws IllegalArgumentException if one is out of range
     */
    public void configure(int linesPerSecond, int keys) {
        if (linesPerSecond < 0 || linesPerSecond > 1_000 || keys < 0 || keys > 10_000) {
            throw new IllegalArgumentException(
                    linesPerSecond + " lines and " + keys + " keys; write 0 to 1 000 lines, and 0 to 10 000 keys");
        }
        Settings before = settings;
        settings = settings(linesPerSecond, keys, before.keys == keys ? before.samples : List.of());
    }

    private Settings settings(int linesPerSecond, int keys, List<DenialSample> known) {
        Throttle log = linesPerSecond == 0 ? null : new Throttle(time, 1_000_000 / linesPerSecond);
        List<DenialSample> samples = known.isEmpty()
                ? Stream.generate(() -> new DenialSample(keys, time.nowMicros()))
                        .limit(STRIPES)
                        .toList()
                : known;
        return new Settings(keys, log, samples);
    }

    /**
     * Registers the names of the rules or methods that charge policies, for the log and {@link DeniedKey#rules()}.
     *
     * @param naming gets a policy's name and whether shadow rules are meant; returns the names of rules or methods.
     *     Called by any thread
     * @return removes the registration
     */
    public Runnable nameRules(BiFunction<String, Boolean, Stream<String>> naming) {
        rules.add(naming);
        return () -> rules.remove(naming);
    }

    private List<String> rulesOf(String policy, boolean shadow) {
        return rules.stream()
                .flatMap(naming -> naming.apply(policy, shadow))
                .distinct()
                .toList();
    }

    /**
     * The keys that were denied most often in the last 10 to 20 minutes, the busiest first. The same key is a separate
     * entry for each policy, and for calls that only would have been denied.
     *
     * @param most how many at most, 0 or more
     */
    public List<DeniedKey> busiest(int most) {
        long now = time.nowMicros();
        Map<DeniedKeys.Id, DeniedKeys.Entry> sum = new HashMap<>();
        settings.samples.forEach(sample -> sample.addTo(sum, now));
        return sum.values().stream()
                .sorted(Comparator.comparingLong(entry -> -entry.count()))
                .limit(Math.min(most, settings.keys))
                .map(entry -> shown(entry, now))
                .toList();
    }

    private DeniedKey shown(DeniedKeys.Entry entry, long now) {
        DeniedKeys.Id id = entry.id();
        long ago = now - entry.lastMicros();
        return new DeniedKey(
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
