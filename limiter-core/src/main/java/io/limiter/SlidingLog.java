package io.limiter;

/**
 * An exact log of admitted permits over the last period: never more than the limit in any period, wherever it starts. At
 * most {@value Limit#MAX_LOG_PERMITS} permits.
 */
final class SlidingLog extends Limit {
    SlidingLog(Head head) {
        super(head, Long.toString(head.periodMicros()), "", "");
    }

    @Override
    SlidingLog with(Head other) {
        return new SlidingLog(other);
    }
}
