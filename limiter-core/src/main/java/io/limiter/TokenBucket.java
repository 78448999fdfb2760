package io.limiter;

import io.limiter.internal.Algorithm;
import io.limiter.internal.LimitSpec;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Permits refill continuously, up to a burst. The state is two numbers, whatever the limit is. */
public final class TokenBucket extends Limit {
    TokenBucket(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    static TokenBucket of(long permits, Duration period, long burst) {
        return new TokenBucket(null, new LimitSpec(Algorithm.TOKEN_BUCKET, permits, LimitSpec.micros(period), burst));
    }

    /** How many permits a full bucket holds. */
    public long burst() {
        return spec().burst();
    }
}
