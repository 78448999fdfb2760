package io.limiter;

/**
 * A cap on different {@linkplain Charge#member() members} in a window that starts with the first one and ends one period
 * later. A member that is known costs nothing; a new one costs one permit. At most {@value Limit#MAX_LOG_PERMITS}.
 */
public final class DistinctMembers extends Limit {
    private final boolean deniesRepeats;

    DistinctMembers(Head head, boolean deniesRepeats) {
        super(
                head,
                Long.toString(head.periodMicros()),
                deniesRepeats ? " repeat deny" : "",
                deniesRepeats ? "repeat=deny" : "");
        this.deniesRepeats = deniesRepeats;
    }

    @Override
    DistinctMembers with(Head other) {
        return new DistinctMembers(other, deniesRepeats);
    }

    /** The same limit, but a known member is denied until the window ends: {@code 5/1d distinct repeat deny}. */
    public DistinctMembers withRepeatsDenied() {
        return new DistinctMembers(head(), true);
    }

    /** Whether a known member is denied. */
    public boolean deniesRepeats() {
        return deniesRepeats;
    }
}
