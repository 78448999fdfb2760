package io.limiter;

import io.limiter.internal.LimitSpec;
import org.jspecify.annotations.Nullable;

/** Permits refill continuously, up to a burst. The state is two numbers, whatever the limit is. */
public final class TokenBucket extends Limit {
    TokenBucket(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    /** How many permits a full bucket holds. */
    public long burst() {
        return spec().burst();
    }
}
