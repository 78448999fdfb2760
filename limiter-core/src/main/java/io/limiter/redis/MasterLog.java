package io.limiter.redis;

import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;

/**
 * Logs the state of one master: each finding when it appears and when it is resolved; that it is unreachable (RL-225)
 * and that
 * it has recovered (RL-226), always in pairs, and at most one pair in ten seconds, however often a link flaps. Thread-safe.
 */
final class MasterLog {
    private static final Logger LOG = DiagnosticLog.of(MasterLog.class);
    private static final long PAUSE_MICROS = 10_000_000;

    private final String name;
    private final Throttle throttle;
    private Map<String, String> findings = Map.of();
    private boolean away;
    private boolean logged;
    private long outages;

    MasterLog(String name, TimeSource time) {
        this.name = name;
        this.throttle = new Throttle(time, PAUSE_MICROS);
    }

    /** Replaces the findings by those of the last check, as texts by code. */
    synchronized void setFindings(Map<String, String> found) {
        found.forEach((code, text) -> {
            if (!findings.containsKey(code)) {
                LOG.warn("{} {}: {}", code, name, text);
            }
        });
        findings.keySet().stream()
                .filter(code -> !found.containsKey(code))
                .forEach(code -> LOG.info("{} {}: resolved", code, name));
        findings = Map.copyOf(found);
    }

    /** The current findings, each as one line that begins with its code. */
    synchronized List<String> findings() {
        return findings.entrySet().stream()
                .map(finding -> finding.getKey() + " " + name + ": " + finding.getValue())
                .toList();
    }

    /** Records the state of the master. Returns whether it has changed. */
    synchronized boolean setUnreachable(boolean isUnreachable) {
        boolean news = away != isUnreachable;
        away = isUnreachable;
        if (news) {
            outages += isUnreachable ? 1 : 0;
            write();
        }
        return news;
    }

    /** Writes state changes that were held back; called periodically. */
    synchronized void write() {
        if (!away && logged) {
            logged = false;
            LOG.info("RL-226 {} answers again and decides", name);
        } else if (away && !logged && throttle.tryPass()) {
            logged = true;
            LOG.warn(
                    "RL-225 {} does not answer; the failure modes answer at once, without waiting for it, until"
                            + " a probe succeeds{}",
                    name,
                    outages > 1 ? " (" + outages + " outages since this was last logged)" : "");
            outages = 0;
        }
    }

    /** It is no longer a master: others decide. */
    synchronized void end() {
        if (logged) {
            logged = false;
            LOG.info("RL-226 {} is no longer a master; others decide", name);
        }
        away = false;
    }
}
