package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import org.slf4j.Logger;

/** Whether what is published can be read; logs when that changes. For one thread, and before its start for its maker. */
final class Reach {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);

    private boolean isAway;

    boolean isAway() {
        return isAway;
    }

    /** It can't be read. */
    void noteAway(Layer inForce, String why) {
        if (!isAway) {
            isAway = true;
            LOG.warn("{}: {}", away(inForce), why);
        }
    }

    /** It can be read. */
    void noteBack() {
        if (isAway) {
            isAway = false;
            LOG.info("RL-501 resolved: what is published can be read");
        }
    }

    /** What health shows; empty for nothing. */
    String finding(Layer inForce) {
        return isAway ? away(inForce) : "";
    }

    private static String away(Layer inForce) {
        return "RL-501 what is published can't be read, so "
                + (inForce.text() == null
                        ? "the own configuration"
                        : inForce.text().source())
                + " stays in force until it can";
    }
}
