package io.limiter;

import io.limiter.internal.Algorithm;
import io.limiter.internal.AllotmentTerms;
import io.limiter.internal.LimitSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A stock that {@linkplain Charge#member() members} draw from: a number in all, at most some for each member, between two
 * times. No rate: nothing refills, except that holds end if they are not confirmed. At most {@value Limit#MAX_LOG_PERMITS}
 * permits. A call repeated with its request id gets the same answer. In configuration text, {@code allotment}.
 */
public final class Stock extends Limit {
    Stock(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    static Stock of(long permits, long each, Duration hold, @Nullable Instant opens, Instant closes) {
        long period = hold.isZero() ? LimitSpec.MAX_PERIOD_MICROS : LimitSpec.micros(hold);
        AllotmentTerms terms =
                new AllotmentTerms(opens == null ? 0 : LimitSpec.micros(opens), LimitSpec.micros(closes));
        return new Stock(null, new LimitSpec(Algorithm.ALLOTMENT, permits, period, each, terms));
    }

    /** The most that one member may have. */
    public long each() {
        return spec().burst();
    }

    /** How long a purchase lasts unless it is confirmed; zero for ever. */
    public Duration hold() {
        return spec().periodMicros() == LimitSpec.MAX_PERIOD_MICROS ? Duration.ZERO : period();
    }

    /** When the first one is sold; 1970 for at once. */
    public Instant opens() {
        return Instant.EPOCH.plus(AllotmentTerms.of(spec()).opensMicros(), ChronoUnit.MICROS);
    }

    /** From when on nothing is sold any more. */
    public Instant closes() {
        return Instant.EPOCH.plus(AllotmentTerms.of(spec()).closesMicros(), ChronoUnit.MICROS);
    }
}
