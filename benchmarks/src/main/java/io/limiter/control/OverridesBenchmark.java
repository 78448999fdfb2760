package io.limiter.control;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What overrides of other keys cost a decision in this JVM, which is the cheapest one: without control, without overrides, with 10 000. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class OverridesBenchmark {
    private static final int KEYS = 16_384;
    private static final Instant END = Instant.parse("2040-01-01T00:00:00Z");

    /** What is in force. */
    @Param({"no-group", "none", "of-another-policy", "10000"})
    private String overrides = "";

    private final PartitionKey[] keys = new PartitionKey[KEYS];
    private final Policy policy = Policy.of("vote", Limit.fixedWindow(Limit.MAX_PERMITS, Duration.ofHours(1)));
    private RateLimiter limiter = RateLimiters.unlimited();
    private int next;

    /** Makes the limiter and the keys; no key is overridden. */
    @Setup
    public void fill() {
        Backend plain = InProcessBackend.builder().build();
        InForce inForce = new InForce(TimeSource.system());
        Set<Entry> all = new HashSet<>();
        boolean isOther = overrides.equals("of-another-policy");
        for (int i = 0; i < 10_000 && (isOther || overrides.equals("10000")); i++) {
            String target = isOther ? "policy:other" : "policy:vote";
            all.add(new Entry(target, "user=other" + i, "100/1m", END, "a", ""));
        }
        inForce.set(all);
        limiter = RateLimiters.on(overrides.equals("no-group") ? plain : new OverridingBackend(plain, inForce, 1));
        for (int i = 0; i < KEYS; i++) {
            keys[i] = PartitionKey.builder().add("user", "user" + i).build();
        }
    }

    /** A decision about one of many keys. */
    @Benchmark
    public Decision decide() {
        next = next + 1 & KEYS - 1;
        return limiter.tryAcquire(policy, keys[next], 1);
    }
}
