package io.limiter;

/**
 * What became of a settlement. Of several parts (limits, or charges in several slots of a cluster) the worst counts: these are
 * in that order, the worst is the last.
 */
public enum Settlement {
    /** The actual cost is charged; also after the hold has ended by itself. */
    SETTLED,
    /** The actual cost is not in 0 to 2<sup>31</sup>-1: the estimate stays charged. */
    IGNORED,
    /** The backend has not answered: the settlement is tried again in the background until the record of the hold ends. */
    PENDING,
    /** Nothing happened: it was settled, cancelled, reset, or its record is not kept any more; or Redis refused it with an error. */
    ENDED;

    /** The worse of two. */
    public Settlement worse(Settlement other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
