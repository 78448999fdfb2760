package io.limiter.application;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import java.util.List;
import java.util.Map;

/**
 * What JMX shows of a limiter with {@code limiter.jmx.name = shop}, as {@code io.limiter:type=Limiter,name=shop}: counters by
 * policy and health, in attributes that never name a client, and the busiest denied keys on demand. All numbers are counts of this JVM since the limiter started. Thread-safe; no
 * attribute asks a server.
 */
public interface LimiterMXBean {
    /** How many calls each policy allowed, by policy and by source of the decision; known policies begin with 0. */
    Map<String, Map<Decision.Source, Long>> getAllowed();

    /** How many calls each policy denied, in the same form. */
    Map<String, Map<Decision.Source, Long>> getDenied();

    /** How many of those were denied because their key is blocked, by policy. */
    Map<String, Long> getBlocked();

    /** How many permits the reservations of this instance hold, by policy; only policies with holds. */
    Map<String, Long> getHeld();

    /** What became of reservations, by policy and event; only policies with holds. */
    Map<String, Map<LimiterMonitor.HoldCount, Long>> getHolds();

    /** How many permits the calls in flight of this instance hold, by policy; only policies of calls in flight. */
    Map<String, Long> getInFlight();

    /** Those that Redis had lost, and how many of them were above the limit; only policies of calls in flight. */
    Map<String, Map<LimiterMonitor.FlightCount, Long>> getInFlightAgain();

    /** How often the backend gave no decision, by reason. */
    Map<BackendException.Kind, Long> getFailures();

    /** The state of each server that decides, by name; empty where this JVM decides. */
    Map<String, BackendHealth.State> getServers();

    /** Whether all servers decide. Where one does not, failure modes answer the calls that need it. */
    boolean isDeciding();

    /** Current findings: lines that begin with a code of docs/diagnostics.md. Empty if there are none. */
    List<String> getFindings();

    /**
     * The keys that were denied most often in the last 10 to 20 minutes, a line each, the busiest first: policy, key and number
     * of denials. Secrets in keys are hashes; addresses and names of users are in clear. An operation, not an
     * attribute, so that tools that collect attributes do not collect clients.
     *
     * @param most how many at most, 0 or more
     */
    List<String> busiestDenied(int most);
}
