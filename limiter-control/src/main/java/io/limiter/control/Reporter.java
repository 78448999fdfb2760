package io.limiter.control;

import io.limiter.BackendException;
import io.limiter.Penalty;
import io.limiter.Policy;
import io.limiter.internal.DiagnosticLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/** Writes the reports of an instance, and learns the time of Redis from the answers. Belongs to one thread. */
final class Reporter {
    private static final Logger LOG = DiagnosticLog.of(Reporter.class);
    private static final long REPORT_MICROS = 5_000_000;
    /** The limits of policies are kept for a week. */
    private static final long DESCRIBE_MICROS = 3_600_000_000L;

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final ControlStore store;
    private final ControlKeys keys;
    private final InForce inForce;
    private final String name = Objects.requireNonNullElse(System.getenv("HOSTNAME"), "host") + "-"
            + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
    /** 0 before the first. */
    private long reportedMicros;

    private boolean isMuted;
    private long describedMicros;
    private Map<String, Policy> reportedPolicies = Map.of();

    Reporter(ControlStore store, ControlKeys keys, InForce inForce) {
        this.store = store;
        this.keys = keys;
        this.inForce = inForce;
    }

    boolean isDue() {
        return reportedMicros == 0 || inForce.steadyMicros() - reportedMicros >= REPORT_MICROS;
    }

    /** Writes a report; where that is not permitted, the time of this machine counts. */
    void report(Report report, Map<String, Policy> all) {
        long now = inForce.steadyMicros();
        Map<String, Policy> policies = Map.copyOf(all);
        boolean isNew = !policies.equals(reportedPolicies) || now - describedMicros > DESCRIBE_MICROS;
        List<String> arguments = new ArrayList<>(List.of(name, report.line()));
        if (isNew) {
            policies.forEach((policy, value) -> arguments.addAll(List.of(policy, text(value))));
        }
        reportedMicros = now;
        try {
            List<String> time = store.run("report", keys.reports(), arguments);
            inForce.setTime(Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1)));
            reportedPolicies = policies;
            describedMicros = isNew ? now : describedMicros;
            isMuted = false;
        } catch (BackendException failed) {
            if (failed.kind() != BackendException.Kind.FAULT) {
                throw failed;
            }
            if (!isMuted) {
                LOG.warn("RL-511 this instance can't report, so publishers don't see it: {}", failed.getMessage());
            }
            isMuted = true;
        }
    }

    /** Without the names that limits have of their policy, which a text would give to another state. */
    private static String text(Policy policy) {
        return policy.limits().stream()
                .filter(limit -> !(limit instanceof Penalty))
                .map(limit -> limit.text() + (limit.identity().equals(limit.name()) ? " name " + limit.name() : ""))
                .collect(Collectors.joining(", "));
    }
}
