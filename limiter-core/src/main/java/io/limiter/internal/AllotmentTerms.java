package io.limiter.internal;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * When an {@link Algorithm#ALLOTMENT} can be drawn from. Immutable. In microseconds since 1970.
 *
 * @param opensMicros from when on; 0 for open already
 * @param closesMicros until when, exclusive
 */
public record AllotmentTerms(long opensMicros, long closesMicros) implements Terms {
    /** The year 2112, as of all times that decisions accept. */
    private static final long LATEST_MICROS = 1L << 52;

    /** How long the state is kept after it closes, so that late retries, returns and confirmations find it. */
    public static final long KEPT_MICROS = 86_400_000_000L;

    /** Of a limit without terms: it never closes. */
    public static final AllotmentTerms ALWAYS = new AllotmentTerms(0, LATEST_MICROS - KEPT_MICROS);

    /**
     * Checks the times.
     *
     * @throws IllegalArgumentException if it closes before it opens, or after 2112
     */
    public AllotmentTerms {
        if (opensMicros < 0 || closesMicros <= opensMicros || closesMicros > LATEST_MICROS - KEPT_MICROS) {
            throw new IllegalArgumentException("RL-172 it opens at " + text(opensMicros) + " and closes at "
                    + text(closesMicros) + "; write a closing time that is later than the opening, from 1970 to 2112");
        }
    }

    /** The terms of a limit of that algorithm. */
    public static AllotmentTerms of(LimitSpec limit) {
        return limit.terms() instanceof AllotmentTerms terms ? terms : ALWAYS;
    }

    @Override
    public String options(long unixMicros) {
        return "opens=" + opensMicros + ",closes=" + closesMicros;
    }

    @Override
    public String toString() {
        return (opensMicros == 0 ? "" : "opens " + text(opensMicros) + " ") + "closes " + text(closesMicros);
    }

    private static String text(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    }
}
