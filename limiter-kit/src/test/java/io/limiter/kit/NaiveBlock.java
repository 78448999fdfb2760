package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;

/** What a block means, as {@link NaiveLimiter} does: from the rules alone. */
final class NaiveBlock {
    private long denials;
    private long windowEnd;
    /** How long the last block was; 0 when there was none lately. */
    private long last;

    private long blockEnd;
    private long forget;

    /** The answer in this state, which nothing is counted for. */
    LimitOutcome look(Charge charge, Limit limit, long now) {
        boolean remembered = forget > now;
        boolean blocked = remembered && blockEnd > now;
        boolean open = windowEnd > now && denials > 0;
        boolean allowed = charge.permits() == 0 || !blocked;
        long next = blocked ? blockEnd - now : open ? windowEnd - now : 0;
        long remaining = blocked ? 0 : Math.max(0, limit.permits() - (open ? denials : 0));
        long reset = Math.max(remembered ? forget - now : 0, open ? windowEnd - now : 0);
        return LimitOutcome.of(charge, limit, allowed, remaining, blocked ? next : 0, next, reset, 0);
    }

    /** Nothing lasts longer from now on than the present terms allow. */
    void settle(Limit limit, long now) {
        long longest = limit.untilMicros();
        long before = windowEnd + blockEnd + forget;
        windowEnd = Math.min(windowEnd, now + limit.periodMicros());
        blockEnd = Math.min(blockEnd, now + Math.min(last, longest));
        forget = Math.min(forget, blockEnd + longest);
        boolean isCut = windowEnd + blockEnd + forget != before;
        if (isCut && forget <= now && (denials == 0 || windowEnd <= now)) {
            denials = 0;
            windowEnd = 0;
            last = 0;
            blockEnd = 0;
            forget = 0;
        }
    }

    /** Another limit of the policy has denied a call. To be settled first. */
    void count(Limit limit, long now) {
        if (blockEnd > now) {
            return;
        }
        boolean open = windowEnd > now && denials > 0;
        denials = open ? denials + 1 : 1;
        windowEnd = open ? windowEnd : now + limit.periodMicros();
        if (denials >= limit.permits()) {
            last = forget <= now ? limit.fromMicros() : Math.max(limit.fromMicros(), last * 2);
            last = Math.min(last, limit.untilMicros());
            blockEnd = now + last;
            forget = blockEnd + limit.untilMicros();
            denials = 0;
        }
    }

    NaiveBlock copy() {
        NaiveBlock copy = new NaiveBlock();
        copy.denials = denials;
        copy.windowEnd = windowEnd;
        copy.last = last;
        copy.blockEnd = blockEnd;
        copy.forget = forget;
        return copy;
    }
}
