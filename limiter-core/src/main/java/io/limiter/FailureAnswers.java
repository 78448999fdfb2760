package io.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** The answers of a limiter whose backend can't decide. Thread-safe. */
final class FailureAnswers {
    private static final Logger LOG = DiagnosticLog.of(BackendRateLimiter.class);
    private static final long WARN_EVERY_MICROS = 10_000_000;

    private final @Nullable Backend fallback;
    private final long instances;
    private final Counters counters;
    /** By what failed and what answered. */
    private final Map<List<Enum<?>>, Throttle> warnings = new ConcurrentHashMap<>();

    FailureAnswers(@Nullable Backend fallback, long instances, Counters counters) {
        this.fallback = fallback;
        this.instances = instances;
        this.counters = counters;
    }

    /** The answer of the failure mode of the policies. Never fails. */
    CompletableFuture<Decision> whenBackendFails(List<Charge> charges, Backend.Mode mode, Throwable thrown) {
        BackendException failure = BackendException.of(thrown);
        counters.failed(failure.kind());
        FailureMode failureMode = FailureMode.ALLOW;
        boolean asksNothing = true;
        for (Charge charge : charges) {
            failureMode = failureMode.strictest(charge.policy().onFailure());
            asksNothing &= charge.permits() == 0;
        }
        boolean late = failure.kind() == BackendException.Kind.LATE && fallback != null;
        if (late || failure.kind() == BackendException.Kind.OVERLOADED) {
            // A client that overloads this JVM must not escape the limits that way.
            failureMode = failureMode.strictest(FailureMode.LOCAL);
        }
        warn(failureMode, failure);
        // A call that asks for nothing is always allowed.
        Decision unknown = Decision.failed(failureMode == FailureMode.ALLOW || asksNothing, charges);
        if (failureMode != FailureMode.LOCAL || fallback == null) {
            return CompletableFuture.completedFuture(unknown);
        }
        try {
            return fallback.decide(shares(charges), mode)
                    .thenApply(decision -> decision.asLocalFallback(charges))
                    .exceptionally(alsoFailed -> unknown)
                    .toCompletableFuture();
        } catch (RuntimeException alsoFailed) {
            LOG.debug("the local fallback failed too", alsoFailed);
            return CompletableFuture.completedFuture(unknown);
        }
    }

    private List<Charge> shares(List<Charge> charges) {
        List<Charge> shares = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            shares.add(new Charge(
                    charge.policy().share(instances),
                    charge.key(),
                    charge.permits(),
                    charge.requestId(),
                    charge.member()));
        }
        return shares;
    }

    /**
     * Logs the failure, rate-limited for each kind and each mode that answers: an outage must not fill the disk with
     * logs, and must show each mode that answers.
     */
    private void warn(FailureMode answer, BackendException failure) {
        Throttle throttle = warnings.computeIfAbsent(
                List.of(failure.kind(), answer), either -> new Throttle(TimeSource.system(), WARN_EVERY_MICROS));
        if (throttle.tryPass()) {
            long times = counters.failures(failure.kind());
            boolean fault = failure.kind() == BackendException.Kind.FAULT;
            LOG.atLevel(fault ? Level.ERROR : Level.WARN)
                    .log(
                            "{}; failure mode {} answers; {} so far for such a reason; logged again in {} s at the"
                                    + " earliest",
                            failure.getMessage(),
                            answer.text(),
                            times == 1 ? "once" : times + " times",
                            WARN_EVERY_MICROS / 1_000_000);
            // The message of the cause may contain keys, which are client data: debug only.
            LOG.debug("the failure behind it", failure);
        }
    }
}
