package io.limiter.redis;

import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.BiConsumer;
import org.slf4j.Logger;

/**
 * Logs that a master is unreachable (RL-225) and that it has recovered (RL-226): always in pairs, and at most one pair in ten
 * seconds, however often a link flaps. Thread-safe.
 */
final class AwayLog {
    private static final Logger LOG = DiagnosticLog.of(RedisBackend.class);
    private static final long PAUSE_MICROS = 10_000_000;

    private final String name;
    private final TimeSource time;
    private final BiConsumer<Duration, Runnable> later;
    private boolean away;
    private boolean logged;
    private boolean scheduled;
    private long outages;
    private long nextMicros = Long.MIN_VALUE;

    /**
     * The log of one master.
     *
     * @param later runs a task after some time
     */
    AwayLog(String name, TimeSource time, BiConsumer<Duration, Runnable> later) {
        this.name = name;
        this.time = time;
        this.later = later;
    }

    /** Notes how the master is now. Returns whether that is news. */
    synchronized boolean set(boolean isAway) {
        boolean news = away != isAway;
        away = isAway;
        if (news) {
            outages += isAway ? 1 : 0;
            write();
        }
        return news;
    }

    /** The master is none any more: others decide for it. */
    synchronized void end() {
        if (logged) {
            logged = false;
            LOG.info("RL-226 {} is no master any more; others decide", name);
        }
        away = false;
    }

    private synchronized void write() {
        if (away == logged) {
            return;
        }
        long now = time.nowMicros();
        if (!away) {
            logged = false;
            LOG.info("RL-226 {} answers again and decides", name);
        } else if (now >= nextMicros) {
            logged = true;
            nextMicros = now + PAUSE_MICROS;
            LOG.warn(
                    "RL-225 {} does not answer; the failure modes answer at once, without waiting for it, until a probe"
                            + " gets through{}",
                    name,
                    outages > 1 ? " (" + outages + " outages since this was last logged)" : "");
            outages = 0;
        } else if (!scheduled) {
            scheduled = true;
            later.accept(Duration.of(nextMicros - now, ChronoUnit.MICROS), this::writeLater);
        }
    }

    private synchronized void writeLater() {
        scheduled = false;
        write();
    }
}
