package io.limiter;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.time.zone.ZoneOffsetTransition;

/**
 * When a fixed window turns at calendar time: a turn is where one window ends and the next one begins. Windows of up to an hour
 * turn by the offset in force, and always last their period. Longer ones turn when the local clock first reaches midnight,
 * Monday, the first of a month, or a multiple of their hours since midnight: a day then has 23 or 25 hours where clocks change.
 * Thread-safe.
 */
final class CalendarWindow {
    private static final long SECOND_MICROS = 1_000_000;
    private static final long HOUR_MICROS = 3_600 * SECOND_MICROS;
    private static final long DAY_MICROS = 24 * HOUR_MICROS;
    private static final long WEEK_MICROS = 7 * DAY_MICROS;
    /** The mean of 30.4 days. */
    private static final long MONTH_MICROS = ChronoUnit.MONTHS.getDuration().toSeconds() * SECOND_MICROS;

    private final long periodMicros;
    private final ZoneId zone;
    /** The window of the last call, so that nearly all calls compute nothing. At first one that contains no time. */
    private volatile Turns turns = new Turns(0, 0, 0, "");

    /** A window and the end of the one after it, in microseconds since 1970. */
    private record Turns(long start, long next, long after, String options) {}

    CalendarWindow(long periodMicros, ZoneId zone) {
        this.periodMicros = periodMicros;
        this.zone = zone;
        boolean divides = periodMicros % SECOND_MICROS == 0 && HOUR_MICROS % periodMicros == 0
                || periodMicros % HOUR_MICROS == 0 && DAY_MICROS % periodMicros == 0;
        if (!divides && periodMicros != WEEK_MICROS && periodMicros != MONTH_MICROS) {
            throw new IllegalArgumentException(
                    "a period of " + periodText() + " does not fit the calendar; aligned"
                            + " takes whole seconds that divide an hour (15m), hours that divide a day (6h), 1d, 1w and 1month");
        }
    }

    /** When the window that is open at that time ends: the first turn after it. Microseconds since 1970. */
    long nextTurnMicros(long unixMicros) {
        return turns(unixMicros).next;
    }

    /** {@code turns=} and the next two turns, so that a server with a clock past the first one has the right one too. */
    String options(long unixMicros) {
        return turns(unixMicros).options;
    }

    /** The longer of the current window and the next one. */
    long longestMicros(long unixMicros) {
        Turns now = turns(unixMicros);
        return Math.max(now.next - now.start, now.after - now.next);
    }

    private Turns turns(long unixMicros) {
        Turns known = turns;
        if (unixMicros < known.start || unixMicros >= known.next) {
            known = turnsAt(unixMicros);
            turns = known;
        }
        return known;
    }

    private Turns turnsAt(long unixMicros) {
        long next = turn(unixMicros, true);
        long after = turn(next, true);
        return new Turns(turn(unixMicros, false), next, after, "turns=" + next + "," + after);
    }

    /** The end or the start of the window that is open at a time. */
    private long turn(long unixMicros, boolean end) {
        Instant now = Instant.EPOCH.plus(unixMicros, ChronoUnit.MICROS);
        ZoneId here = periodMicros > HOUR_MICROS ? zone : zone.getRules().getOffset(now);
        LocalDateTime local = LocalDateTime.ofInstant(now, here);
        LocalDateTime start = startOn(local.truncatedTo(ChronoUnit.DAYS), local.getLong(ChronoField.MICRO_OF_DAY));
        LocalDateTime next = plusPeriod(start);
        // A clock that is set back can show a turn twice. Only the first time counts.
        while (reached(next, here) <= unixMicros) {
            start = next;
            next = plusPeriod(next);
        }
        return reached(end ? next : start, here);
    }

    private LocalDateTime startOn(LocalDateTime day, long microOfDay) {
        if (isMonth()) {
            return day.withDayOfMonth(1);
        }
        return periodMicros == WEEK_MICROS
                ? day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY))
                : day.plus(microOfDay - microOfDay % periodMicros, ChronoUnit.MICROS);
    }

    private LocalDateTime plusPeriod(LocalDateTime local) {
        return isMonth() ? local.plusMonths(1) : local.plus(periodMicros, ChronoUnit.MICROS);
    }

    /** When the local clock shows this time first, or would if it were not set forward past it. */
    private static long reached(LocalDateTime local, ZoneId zone) {
        ZoneOffsetTransition change = zone.getRules().getTransition(local);
        Instant instant = change != null && change.isGap()
                ? change.getInstant()
                : local.atZone(zone).toInstant();
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    private boolean isMonth() {
        return periodMicros == MONTH_MICROS;
    }

    String periodText() {
        return isMonth() ? "1month" : periodMicros == WEEK_MICROS ? "1w" : Limit.text(periodMicros);
    }

    /** Differs from that of a window that is not aligned, or that is in another zone. */
    String identity() {
        return periodText() + "-" + zone.getId().replaceAll("[/:]", ".").replace('+', '_');
    }

    @Override
    public String toString() {
        return "aligned " + zone;
    }
}
