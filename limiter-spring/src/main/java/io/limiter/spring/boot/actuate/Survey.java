package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Counters;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.config.KeyPart;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.spring.call.AnnotatedPolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Puts together what a limiter, its configuration and its annotations say at one moment. */
final class Survey {
    private final LimiterConfig config;
    private final Counters counters;
    private final BackendHealth health;
    private final List<AnnotatedPolicy> annotated;

    Survey(Limiter limiter, List<AnnotatedPolicy> annotated) {
        this.config = limiter.config();
        this.counters = limiter.rateLimiter().counters();
        this.health = limiter.rateLimiter().health();
        this.annotated = annotated;
    }

    RateLimitsReport report() {
        return new RateLimitsReport(
                backend(),
                policies(),
                config.rules().stream().map(Survey::rule).toList(),
                annotated.stream().map(Survey::method).toList());
    }

    private RateLimitsReport.Backend backend() {
        Map<String, String> servers = new TreeMap<>();
        health.servers().forEach((name, state) -> servers.put(name, RateLimitsEndpoint.text(state)));
        Map<String, Long> failures = new LinkedHashMap<>();
        for (BackendException.Kind kind : BackendException.Kind.values()) {
            failures.put(RateLimitsEndpoint.text(kind), counters.failures(kind));
        }
        return new RateLimitsReport.Backend(
                servers.isEmpty() ? "in-process" : "redis", servers, health.findings(), failures);
    }

    private Map<String, RateLimitsReport.PolicyReport> policies() {
        Map<String, RateLimitsReport.PolicyReport> all = new LinkedHashMap<>();
        config.policies().forEach((name, policy) -> all.put(name, report(policy, "configuration")));
        for (AnnotatedPolicy one : annotated) {
            if (one.own()) {
                all.putIfAbsent(one.policy().name(), report(one.policy(), one.method()));
            }
        }
        for (String name : counters.policies()) {
            all.putIfAbsent(name, new RateLimitsReport.PolicyReport(List.of(), null, null, "code", decisions(name)));
        }
        return all;
    }

    private RateLimitsReport.PolicyReport report(Policy policy, String definedBy) {
        return new RateLimitsReport.PolicyReport(
                policy.limits().stream().map(Limit::toString).toList(),
                policy.onFailure().text(),
                policy.deadline() == null ? null : policy.deadline().toString(),
                definedBy,
                decisions(policy.name()));
    }

    private Map<String, RateLimitsReport.Decisions> decisions(String policy) {
        Map<String, RateLimitsReport.Decisions> decisions = new LinkedHashMap<>();
        for (Decision.Source source : Decision.Source.values()) {
            long allowed = counters.allowed(policy, source);
            long denied = counters.denied(policy, source);
            if (allowed + denied > 0) {
                decisions.put(RateLimitsEndpoint.text(source), new RateLimitsReport.Decisions(allowed, denied));
            }
        }
        return decisions;
    }

    private static RateLimitsReport.Rule rule(RuleDefinition rule) {
        String key = rule.key().isEmpty()
                ? "global"
                : rule.key().stream().map(Survey::text).collect(Collectors.joining(" + "));
        return new RateLimitsReport.Rule(
                rule.name(),
                rule.paths(),
                List.copyOf(new TreeSet<>(rule.methods())),
                key,
                rule.policy().name());
    }

    private static String text(KeyPart part) {
        return part.name() == null ? part.kind().text() : part.kind().text() + ":" + part.name();
    }

    private static RateLimitsReport.LimitedMethod method(AnnotatedPolicy annotated) {
        return new RateLimitsReport.LimitedMethod(
                annotated.method(),
                annotated.policy().name(),
                annotated.key().isBlank() ? "ip" : annotated.key(),
                annotated.permits(),
                annotated.condition().isBlank() ? null : annotated.condition(),
                annotated.shadow());
    }
}
