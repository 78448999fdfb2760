package io.limiter.spring.boot.actuate;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.LimiterMonitor;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/**
 * The counters and the health of a limiter as meters: {@code limiter.decisions} by policy, outcome and source, {@code limiter.blocked} by
 * policy, {@code
 * limiter.backend.failures} by kind, {@code limiter.backend.servers} by state, and how many calls wait as {@code limiter.waiting}. Never
 * by client. Each policy has nine of the first, from 0 on; policies that become known later get theirs when they decide
 * for the first time. Thread-safe.
 */
record LimiterMetrics(Limiter limiter) implements MeterBinder {
    @Override
    public void bindTo(MeterRegistry registry) {
        LimiterMonitor counters = limiter.rateLimiter().monitor();
        for (BackendException.Kind kind : BackendException.Kind.values()) {
            FunctionCounter.builder("limiter.backend.failures", counters, all -> all.failures(kind))
                    .tag("kind", Reports.text(kind))
                    .description("How often the backend gave no decision, so that a failure mode decided")
                    .baseUnit("failures")
                    .register(registry);
        }
        for (Backend.Health.State state : Backend.Health.State.values()) {
            Gauge.builder(
                            "limiter.backend.servers",
                            counters,
                            all -> all.health().serversThatAre(state).size())
                    .tag("state", Reports.text(state))
                    .description("Redis servers that decide, by their state; none where this JVM decides")
                    .baseUnit("servers")
                    .register(registry);
        }
        Gauge.builder("limiter.waiting", counters, LimiterMonitor::waiting)
                .description("Calls that wait for permits")
                .baseUnit("calls")
                .register(registry);
        Set<String> bound = ConcurrentHashMap.newKeySet();
        Consumer<String> once = name -> {
            // A registry would warn about a second registration.
            if (bound.add(name)) {
                bind(name, counters, registry);
            }
            Policy policy = limiter.policies().get(name);
            if (policy != null && policy.holds() > 0 && bound.add(name + " holds")) {
                bindHolds(name, counters, registry);
            }
            if (policy != null && policy.isInFlight() && bound.add(name + " in flight")) {
                bindInFlight(name, counters, registry);
            }
        };
        limiter.<LimiterConfig>derive(config -> config)
                .onReplaced(config -> config.policies().keySet().forEach(once));
        limiter.policies().keySet().forEach(once);
        counters.onPolicy(once);
    }

    private static void bind(String policy, LimiterMonitor counters, MeterRegistry registry) {
        FunctionCounter.builder("limiter.blocked", counters, all -> all.blocked(policy))
                .tag("policy", policy)
                .description("Calls that a policy denied because their key is blocked")
                .baseUnit("decisions")
                .register(registry);
        for (Decision.Source source : Decision.Source.values()) {
            // The names of these two contain the outcome, and a cached denial is a denial.
            if (source != Decision.Source.FAILED_CLOSED && source != Decision.Source.CACHED_DENIAL) {
                decisions(counters, all -> all.allowed(policy, source))
                        .tags("policy", policy, "outcome", "allowed", "source", Reports.text(source))
                        .register(registry);
            }
            if (source != Decision.Source.FAILED_OPEN) {
                decisions(counters, all -> all.denied(policy, source))
                        .tags("policy", policy, "outcome", "denied", "source", Reports.text(source))
                        .register(registry);
            }
        }
    }

    private static void bindHolds(String policy, LimiterMonitor counters, MeterRegistry registry) {
        Gauge.builder("limiter.held", counters, all -> all.held(policy))
                .tag("policy", policy)
                .description("Permits that the reservations of this instance hold")
                .baseUnit("permits")
                .register(registry);
        for (LimiterMonitor.HoldCount what : LimiterMonitor.HoldCount.values()) {
            FunctionCounter.builder("limiter.holds", counters, all -> all.holds(policy, what))
                    .tags("policy", policy, "event", Reports.text(what))
                    .description(
                            "Reservations that ended by themselves, were denied because there are too many, or were"
                                    + " settled above their estimate or too late")
                    .register(registry);
        }
    }

    private static void bindInFlight(String policy, LimiterMonitor counters, MeterRegistry registry) {
        Gauge.builder("limiter.in.flight", counters, all -> all.inFlight(policy))
                .tag("policy", policy)
                .description("Permits that the calls in flight of this instance hold")
                .baseUnit("permits")
                .register(registry);
    }

    private static FunctionCounter.Builder<LimiterMonitor> decisions(
            LimiterMonitor counters, ToDoubleFunction<LimiterMonitor> count) {
        return FunctionCounter.builder("limiter.decisions", counters, count)
                .description("Calls that a policy allowed or denied, by source of the decision")
                .baseUnit("decisions");
    }
}
