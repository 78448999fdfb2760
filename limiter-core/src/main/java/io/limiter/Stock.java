package io.limiter;

import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A stock that {@linkplain Charge#member() members} draw from: a number in all, at most some for each member, between two
 * times. No rate: nothing refills, except that holds end if they are not confirmed. At most {@value Limit#MAX_LOG_PERMITS}
 * permits. A call repeated with its request id gets the same answer. In configuration text, {@code allotment}. It has one
 * state whatever its holds last: a stock is not full again because a hold lasts longer.
 */
public final class Stock extends Limit {
    /** How long the state is kept after it closes, so that late retries, returns and confirmations find it. */
    public static final long KEPT_MICROS = 86_400_000_000L;

    /** The last closing time, in the year 2112, as of all times that decisions accept. */
    static final long LATEST_MICROS = (1L << 52) - KEPT_MICROS;

    private final long opensMicros;
    private final long closesMicros;

    Stock(Head head, long opensMicros, long closesMicros) {
        super(
                head,
                "stock",
                " each " + head.burst()
                        + (head.periodMicros() == MAX_PERIOD_MICROS ? "" : " hold " + text(head.periodMicros()))
                        + (opensMicros == 0 ? "" : " opens " + time(opensMicros)) + " closes " + time(closesMicros),
                "opens=" + opensMicros + ",closes=" + closesMicros);
        this.opensMicros = opensMicros;
        this.closesMicros = closesMicros;
        refuseIf(
                permits() > MAX_LOG_PERMITS || burst() > permits() || burst() < Math.min(permits(), 1),
                "an allotment of " + permits() + " with " + burst() + " for each member; it has at most "
                        + MAX_LOG_PERMITS + ", and from 1 to all of them for each");
        refuseIf(
                opensMicros < 0 || closesMicros <= opensMicros || closesMicros > LATEST_MICROS,
                "RL-172 it opens at " + time(opensMicros) + " and closes at " + time(closesMicros)
                        + "; write a closing time that is later than the opening, from 1970 to 2112");
    }

    static Stock of(long permits, long each, Duration hold, @Nullable Instant opens, Instant closes) {
        long period = hold.isZero() ? MAX_PERIOD_MICROS : micros(hold);
        long opensMicros = opens == null ? 0 : ChronoUnit.MICROS.between(Instant.EPOCH, opens);
        Head head = new Head(Algorithm.ALLOTMENT, permits, period, each);
        return new Stock(head, opensMicros, ChronoUnit.MICROS.between(Instant.EPOCH, closes));
    }

    @Override
    Stock with(Head other) {
        return new Stock(other, opensMicros, closesMicros);
    }

    /** When the first one is sold, in microseconds since 1970; 0 for at once. */
    public long opensMicros() {
        return opensMicros;
    }

    /** From when on nothing is sold any more, in microseconds since 1970. */
    public long closesMicros() {
        return closesMicros;
    }

    private static Instant time(long unixMicros) {
        return Instant.EPOCH.plus(unixMicros, ChronoUnit.MICROS);
    }

    @Override
    Limit share(long instances) {
        if (permits() == 0) {
            return this;
        }
        throw new IllegalStateException("instances can't sell parts of one stock: " + this);
    }
}
