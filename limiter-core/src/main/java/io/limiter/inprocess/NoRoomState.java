package io.limiter.inprocess;

import io.limiter.LimitOutcome;

/** Denies a key for which there is neither a state nor a place to share one. Keeps nothing. */
final class NoRoomState extends State {
    private final long until;

    /** Denies until about that time, in microseconds. */
    NoRoomState(long until) {
        super(null, null);
        this.until = until;
    }

    @Override
    boolean hold() {
        return true;
    }

    @Override
    void release() {}

    @Override
    void look(Ask ask) {
        ask.allowed = ask.charge.permits() == 0;
    }

    @Override
    void charge(Ask ask) {}

    @Override
    void settle(Ask ask) {}

    @Override
    void describe(Ask ask) {
        ask.remaining = 0;
        ask.next = Math.max(1, until - ask.now);
        ask.reset = ask.next;
        ask.stamp = ask.now;
        ask.retryAfter = ask.allowed ? 0 : ask.neverFits() ? LimitOutcome.NEVER : ask.next;
    }

    @Override
    boolean back(Ask ask, long stamp) {
        return false;
    }

    @Override
    void clear() {}

    @Override
    long fullAtMicros() {
        return until;
    }

    @Override
    void drop() {}
}
