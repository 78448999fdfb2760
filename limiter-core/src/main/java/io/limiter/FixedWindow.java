package io.limiter;

import io.limiter.internal.LimitSpec;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * A counter that starts with the first admitted call and ends one period later, or at calendar time. Smallest and cheapest;
 * a caller can get up to twice the limit across a window's edge.
 */
public final class FixedWindow extends Limit {
    FixedWindow(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }

    /**
     * The same permits in windows that turn at calendar time: {@code fixedWindow(1000, Duration.ofDays(1)).withZone(rome)}
     * begins anew at each midnight in Rome. A week is 7 days, a month {@link java.time.temporal.ChronoUnit#MONTHS}'s duration.
     *
     * @throws IllegalArgumentException if the period does not fit the calendar, or the zone's id is an abbreviation
     */
    public FixedWindow withZone(ZoneId zone) {
        return (FixedWindow) of(name(), spec().aligned(zone));
    }

    /** Whether its windows turn at calendar time. */
    public boolean isAligned() {
        return spec().terms() != null;
    }
}
