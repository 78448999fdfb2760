package io.limiter;

import io.limiter.internal.LimitSpec;
import org.jspecify.annotations.Nullable;

/**
 * An exact log of admitted permits over the last period: never more than the limit in any period, wherever it starts. At
 * most {@value Limit#MAX_LOG_PERMITS} permits.
 */
public final class SlidingLog extends Limit {
    SlidingLog(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    /** Whether a call repeated with its {@linkplain Charge#requestId() request id} is charged once; its state is larger then. */
    public boolean takesRequestIds() {
        return spec().algorithm().takesRequestIds();
    }
}
