package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.kit.NaiveLimiter.Entry;
import java.util.ArrayList;
import java.util.List;

/** What a sliding log means. */
final class NaiveLog {
    private NaiveLog() {}

    static LimitOutcome look(Charge charge, Limit limit, long now, List<Entry> log) {
        long n = charge.permits();
        long period = limit.periodMicros();
        List<Long> live = new ArrayList<>();
        long stamp = now;
        boolean repeated = false;
        for (Entry entry : live(log, limit, now)) {
            live.add(entry.stamp());
            if (charge.requestId() != null && charge.requestId().equals(entry.id()) && n > 0 && n <= limit.permits()) {
                repeated = true;
                stamp = entry.stamp();
            }
        }
        int len = live.size();
        boolean allowed = n == 0 || repeated || len + n <= limit.permits();
        long retry =
                allowed ? 0 : n > limit.permits() ? -1 : live.get((int) (len + n - limit.permits() - 1)) + period - now;
        long next = len == 0 ? 0 : live.get((int) Math.max(0, len - limit.permits())) + period - now;
        long reset = len == 0 ? 0 : live.get(len - 1) + period - now;
        return LimitOutcome.of(charge, limit, allowed, Math.max(0, limit.permits() - len), retry, next, reset, stamp);
    }

    /** The entries that count, none later than now. */
    static List<Entry> live(List<Entry> log, Limit limit, long now) {
        List<Entry> live = new ArrayList<>();
        for (Entry entry : log) {
            if (entry.stamp() > now - limit.periodMicros()) {
                live.add(new Entry(Math.min(entry.stamp(), now), entry.id()));
            }
        }
        return live;
    }
}
