package io.limiter.inprocess;

import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import org.jspecify.annotations.Nullable;

/** A counter that starts with the first admitted call and ends one period later. The twin of fixed_window.lua. */
final class FixedWindowState extends SwappedState<FixedWindowState.Window> {
    private static final Window NONE = new Window(0, 0);

    /** So many admitted, until then. */
    record Window(long count, long end) {}

    FixedWindowState(@Nullable Room room, @Nullable PartitionKey key) {
        super(room, key, NONE);
    }

    @Override
    void look(Window stored, Ask ask) {
        boolean open = stored.end > ask.now;
        ask.level = open ? stored.count : 0;
        ask.end = open ? stored.end : 0;
        ask.allowed = ask.charge.permits() == 0 || ask.level + ask.permits() <= ask.limit.permits();
    }

    @Override
    Window charged(Ask ask) {
        ask.end = ask.level > 0 ? cut(ask) : latestEnd(ask);
        ask.level += ask.charge.permits();
        return new Window(ask.level, ask.end);
    }

    @Override
    @Nullable
    Window settled(Window stored, Ask ask) {
        if (ask.end <= latestEnd(ask)) {
            return null;
        }
        ask.end = latestEnd(ask);
        return new Window(ask.level, ask.end);
    }

    @Override
    @Nullable
    Window refunded(Window stored, Ask ask, long stamp) {
        if (ask.level == 0 || ask.end != stamp) {
            return null;
        }
        ask.level = Math.max(0, ask.level - ask.charge.permits());
        ask.end = ask.level == 0 ? 0 : cut(ask);
        return ask.level == 0 ? NONE : new Window(ask.level, ask.end);
    }

    @Override
    void describe(Ask ask) {
        ask.remaining = Math.max(0, ask.limit.permits() - ask.level);
        ask.next = ask.level > 0 ? ask.end - ask.now : 0;
        ask.reset = ask.next;
        ask.stamp = ask.end;
        ask.retryAfter = ask.allowed ? 0 : ask.neverFits() ? LimitOutcome.NEVER : ask.next;
    }

    private static long latestEnd(Ask ask) {
        return ask.now + ask.limit.periodMicros();
    }

    /** A clock that stepped back, or a shorter period, cuts the window. */
    private static long cut(Ask ask) {
        return Math.min(ask.end, latestEnd(ask));
    }

    @Override
    Window full() {
        return NONE;
    }

    @Override
    long fullAtMicros(Window standing) {
        return standing.end;
    }
}
