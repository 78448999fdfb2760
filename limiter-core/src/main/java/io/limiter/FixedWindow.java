package io.limiter;

import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * A counter that starts with the first admitted call and ends one period later, or at calendar time. Smallest and cheapest;
 * a caller can get up to twice the limit across a window's edge.
 */
public final class FixedWindow extends Limit {
    private final @Nullable CalendarWindow calendar;

    /** The turns, which its script reads, are other ones at each time: {@link #options}. */
    FixedWindow(Head head, @Nullable CalendarWindow calendar) {
        super(
                head,
                calendar == null ? Long.toString(head.periodMicros()) : calendar.identity(),
                calendar == null ? "" : " " + calendar,
                calendar == null ? "" : "turns=");
        this.calendar = calendar;
    }

    @Override
    FixedWindow with(Head other) {
        return new FixedWindow(other, calendar);
    }

    /**
     * The same permits in windows that turn at calendar time: {@code fixedWindow(1000, Duration.ofDays(1)).withZone(rome)}
     * begins anew at each midnight in Rome. A week is 7 days, a month {@link java.time.temporal.ChronoUnit#MONTHS}'s duration.
     *
     * @throws IllegalArgumentException if the period does not fit the calendar, or the zone's id is an abbreviation
     */
    public FixedWindow withZone(ZoneId zone) {
        return new FixedWindow(head(), new CalendarWindow(periodMicros(), zone));
    }

    /** Whether its windows turn at calendar time. */
    public boolean isAligned() {
        return calendar != null;
    }

    /** When the window ends that begins at that time, or is open then at calendar time. In microseconds since 1970. */
    public long endMicros(long unixMicros) {
        return calendar == null ? unixMicros + periodMicros() : calendar.nextTurnMicros(unixMicros);
    }

    @Override
    public String options(long unixMicros) {
        return calendar == null ? "" : calendar.options(unixMicros);
    }

    @Override
    public long periodMicros(long unixMicros) {
        return calendar == null ? periodMicros() : calendar.longestMicros(unixMicros);
    }

    /** Windows of the calendar differ in length. */
    @Override
    public long windowSeconds() {
        return calendar == null ? super.windowSeconds() : 0;
    }

    @Override
    String periodText() {
        return calendar == null ? super.periodText() : calendar.periodText();
    }
}
