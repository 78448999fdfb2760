package io.limiter;

import io.limiter.internal.Algorithm;
import io.limiter.internal.BlockTerms;
import io.limiter.internal.LimitSpec;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * No quota: blocks a key that the limits of its policy deny repeatedly. When the number of denials within the period is
 * reached, the key is blocked, each time twice as long as the time before, up to the longest; a key that was not blocked for
 * as long as the longest block lasts begins with the first length again. Allowed calls change nothing. A policy has at most
 * one, and counts it after its limits: {@link Policy#penalty}.
 */
public final class Penalty extends Limit {
    Penalty(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    static Penalty of(long denials, Duration period, Duration first, Duration longest) {
        BlockTerms terms = new BlockTerms(LimitSpec.micros(first), LimitSpec.micros(longest));
        long micros = LimitSpec.micros(period);
        String name = Algorithm.BLOCK.text();
        return new Penalty(name, new LimitSpec(Algorithm.BLOCK, denials, micros, denials, name, terms));
    }

    /** How long the first block lasts. */
    public Duration first() {
        return Duration.of(terms().firstMicros(), ChronoUnit.MICROS);
    }

    /** The longest that a block lasts. */
    public Duration longest() {
        return Duration.of(terms().longestMicros(), ChronoUnit.MICROS);
    }

    private BlockTerms terms() {
        return (BlockTerms) Objects.requireNonNull(spec().terms());
    }
}
