package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.config.CallerSettings;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;

/** Callers that are denied before anything is counted. Thread-safe. */
final class DeniedCallers {
    private static final Logger LOG = DiagnosticLog.of(DeniedCallers.class);
    private static final long MINUTE_MICROS = 60_000_000;

    private final CallerSettings settings;
    private final LongAdder count = new LongAdder();
    private final Throttle log = new Throttle(TimeSource.system(), MINUTE_MICROS);

    DeniedCallers(CallerSettings settings) {
        this.settings = settings;
    }

    boolean isNobody() {
        return settings.denied().isEmpty();
    }

    boolean contain(Dispatch dispatch) {
        return !isNobody() && dispatch.isDeniedBy(settings.denied());
    }

    /** The same, for a request that is then denied. */
    boolean deny(Dispatch dispatch) {
        if (!contain(dispatch)) {
            return false;
        }
        count.increment();
        if (log.tryPass()) {
            LOG.warn(
                    "RL-311 a request from {} got {}, because limiter.deny.addresses contains its address; {} such"
                            + " requests so far; logged once a minute",
                    dispatch.get(),
                    settings.deniedStatus(),
                    count.sum());
        }
        return true;
    }
}
