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
    void look(Window standing, Ask ask) {
        long period = ask.limit.periodMicros();
        boolean stands = standing.end > ask.now;
        ask.level = stands ? standing.count : 0;
        // A clock that stepped back, or a shorter period, cuts the window.
        ask.end = stands ? Math.min(standing.end, ask.now + period) : 0;
        ask.ahead = stands && ask.end < standing.end;
        long n = ask.permits();
        ask.allowed = ask.charge.permits() == 0 || ask.level + n <= ask.limit.permits();
        ask.retryAfter = ask.allowed ? 0 : n > ask.limit.permits() ? LimitOutcome.NEVER : ask.end - ask.now;
    }

    @Override
    Window charged(Ask ask) {
        if (ask.level == 0) {
            ask.end = ask.now + ask.limit.periodMicros();
        }
        ask.level += ask.charge.permits();
        return new Window(ask.level, ask.end);
    }

    @Override
    Window settled(Ask ask) {
        return new Window(ask.level, ask.end);
    }

    @Override
    @Nullable
    Window refunded(Window standing, Ask ask, long stamp) {
        if (ask.level == 0 || standing.end != stamp) {
            return null;
        }
        ask.level = Math.max(0, ask.level - ask.charge.permits());
        ask.end = ask.level == 0 ? 0 : ask.end;
        return ask.level == 0 ? NONE : new Window(ask.level, ask.end);
    }

    @Override
    void describe(Ask ask) {
        ask.remaining = Math.max(0, ask.limit.permits() - ask.level);
        ask.next = ask.level > 0 ? ask.end - ask.now : 0;
        ask.reset = ask.next;
        ask.stamp = ask.end;
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
