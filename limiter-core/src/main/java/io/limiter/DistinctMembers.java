package io.limiter;

import io.limiter.internal.LimitSpec;
import org.jspecify.annotations.Nullable;

/**
 * A cap on different {@linkplain Charge#member() members} in a window that starts with the first one and ends one period
 * later. A member that is known costs nothing; a new one costs one permit. At most {@value Limit#MAX_LOG_PERMITS}.
 */
public final class DistinctMembers extends Limit {
    DistinctMembers(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    /** The same limit, but a known member is denied until the window ends: {@code 5/1d distinct repeat deny}. */
    public DistinctMembers withRepeatsDenied() {
        LimitSpec denying = spec().denyingRepeats();
        return new DistinctMembers(name(), denying);
    }

    /** Whether a known member is denied. */
    public boolean deniesRepeats() {
        return spec().terms() != null;
    }
}
