package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Counters;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.Limiter;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.CallerSettings;
import io.limiter.config.KeyPart;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RuleScope;
import io.limiter.spring.method.AnnotatedPolicy;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is limited in an application, and the decisions since startup. Contains no clients. Immutable.
 *
 * @param backend where the state is
 * @param policies by name: those of the configuration, those of annotations, and others that have decided something
 * @param rules of the configuration, in their order
 * @param methods the annotated methods, as far as their beans exist
 * @param callers that are exempt or denied under all rules
 * @param uncounted settings because of which requests are not counted, or not denied: sentences that begin with a code
 */
public record RateLimitsReport(
        Backend backend,
        Map<String, PolicyReport> policies,
        List<Rule> rules,
        List<LimitedMethod> methods,
        Callers callers,
        List<String> uncounted) {
    /** The current report of a limiter, its configuration and the annotations. */
    static RateLimitsReport of(Limiter limiter, List<AnnotatedPolicy> annotated, Map<String, String> unused) {
        LimiterConfig config = limiter.config();
        return new RateLimitsReport(
                Backend.of(limiter.rateLimiter()),
                policies(limiter, config, annotated),
                config.rules().stream()
                        .map(rule -> Rule.of(rule, unused.get(rule.name())))
                        .toList(),
                annotated.stream().map(LimitedMethod::of).toList(),
                Callers.of(config.callers()),
                config.uncounted());
    }

    private static Map<String, PolicyReport> policies(
            Limiter limiter, LimiterConfig config, List<AnnotatedPolicy> annotated) {
        Counters counters = limiter.rateLimiter().counters();
        Map<String, String> methods = new HashMap<>();
        annotated.forEach(one -> methods.putIfAbsent(one.policy().name(), one.method()));
        Map<String, PolicyReport> all = new LinkedHashMap<>();
        limiter.policies().forEach((name, policy) -> {
            String definedBy =
                    config.policies().containsKey(name) ? "configuration" : methods.getOrDefault(name, "code");
            all.put(name, PolicyReport.of(policy, definedBy, counters));
        });
        for (String name : counters.policies()) {
            all.putIfAbsent(name, new PolicyReport(List.of(), null, null, "code", Decisions.of(name, counters)));
        }
        return all;
    }

    /**
     * Where the state is.
     *
     * @param kind {@code in-process} or {@code redis}
     * @param servers the state of each server, by name: {@code answers}, {@code suspect}, {@code away}
     * @param findings the current findings, each beginning with a code
     * @param failures how often there was no decision, by reason
     */
    public record Backend(String kind, Map<String, String> servers, List<String> findings, Map<String, Long> failures) {
        static Backend of(RateLimiter limiter) {
            BackendHealth health = limiter.health();
            Map<String, String> servers = new TreeMap<>();
            health.servers().forEach((name, state) -> servers.put(name, text(state)));
            Map<String, Long> failures = new LinkedHashMap<>();
            for (BackendException.Kind kind : BackendException.Kind.values()) {
                failures.put(text(kind), limiter.counters().failures(kind));
            }
            return new Backend(servers.isEmpty() ? "in-process" : "redis", servers, health.findings(), failures);
        }
    }

    /**
     * A policy.
     *
     * @param limits in the grammar of the configuration; empty if the policy is known only by its decisions
     * @param onFailure {@code local}, {@code allow} or {@code deny}; null if it is not known
     * @param deadline how long a decision waits for Redis, as ISO 8601 duration; null for the backend's
     * @param definedBy {@code configuration}, the method of its annotation, or {@code code}
     * @param decisions by source: {@code redis}, {@code in-process}, {@code local-fallback} ...
     */
    public record PolicyReport(
            List<String> limits,
            @Nullable String onFailure,
            @Nullable String deadline,
            String definedBy,
            Map<String, Decisions> decisions) {
        private static PolicyReport of(Policy policy, String definedBy, Counters counters) {
            return new PolicyReport(
                    policy.limits().stream().map(Limit::toString).toList(),
                    policy.onFailure().text(),
                    policy.deadline() == null ? null : policy.deadline().toString(),
                    definedBy,
                    Decisions.of(policy.name(), counters));
        }
    }

    /**
     * How many calls a policy decided.
     *
     * @param allowed how many calls it allowed
     * @param denied how many calls it denied, or would have denied as a shadow policy
     */
    public record Decisions(long allowed, long denied) {
        private static Map<String, Decisions> of(String policy, Counters counters) {
            Map<String, Decisions> decisions = new LinkedHashMap<>();
            for (Decision.Source source : Decision.Source.values()) {
                long allowed = counters.allowed(policy, source);
                long denied = counters.denied(policy, source);
                if (allowed + denied > 0) {
                    decisions.put(text(source), new Decisions(allowed, denied));
                }
            }
            return decisions;
        }
    }

    /**
     * Callers that are exempt or denied.
     *
     * @param exempt callers that no rule counts
     * @param denied networks of callers that are denied before anything is counted
     * @param deniedStatus the status of their responses
     */
    public record Callers(Exempt exempt, List<String> denied, int deniedStatus) {
        private static Callers of(CallerSettings settings) {
            return new Callers(Exempt.of(settings.exempt()), texts(settings.denied()), settings.deniedStatus());
        }
    }

    /** Callers that are not counted, as the configuration names them. */
    public record Exempt(List<String> addresses, List<String> users, List<String> roles) {
        private static Exempt of(io.limiter.config.Callers callers) {
            return new Exempt(
                    texts(callers.addresses()),
                    callers.users().stream().sorted().toList(),
                    callers.roles().stream().sorted().toList());
        }
    }

    /**
     * A rule of the filter.
     *
     * @param methods empty for all
     * @param headers the headers that a request must have
     * @param query the parameters that its query must have
     * @param except paths that it does not count
     * @param isDefault whether it applies only to requests that no other rule matches
     * @param position {@code before-authentication} or {@code after-authentication}
     * @param mode {@code enforced}, {@code shadow} or {@code off}
     * @param key its key, as in the configuration
     * @param policy with plans that of the default plan
     * @param plan where the plan of a caller is found; null without plans
     * @param cost how many permits a request costs
     * @param outcomes which responses keep or refund the charge, such as {@code count-on = 401}; null if all keep it
     * @param unused why it has counted no request since it took effect; null if it has counted one, or in an application
     *     without a filter
     */
    public record Rule(
            String name,
            List<String> paths,
            List<String> methods,
            List<String> headers,
            List<String> query,
            List<String> except,
            Exempt exempt,
            boolean isDefault,
            String position,
            String mode,
            String key,
            String policy,
            @Nullable String plan,
            String cost,
            @Nullable String outcomes,
            @Nullable String unused) {
        private static Rule of(RuleDefinition rule, @Nullable String unused) {
            RuleScope scope = rule.scope();
            String key = rule.key().stream().map(KeyPart::toString).collect(Collectors.joining(" + "));
            return new Rule(
                    rule.name(),
                    rule.paths(),
                    rule.methods().stream().sorted().toList(),
                    texts(scope.headers()),
                    texts(scope.query()),
                    scope.except(),
                    Exempt.of(scope.exempt()),
                    scope.isDefault(),
                    text(rule.position()),
                    text(rule.mode()),
                    key.isEmpty() ? "global" : key,
                    rule.policy().name(),
                    Objects.toString(rule.charging().plans(), null),
                    rule.charging().cost().toString(),
                    Objects.toString(rule.charging().outcomes(), null),
                    unused);
        }
    }

    private static List<String> texts(List<?> values) {
        return values.stream().map(String::valueOf).toList();
    }

    /**
     * An annotation on a method.
     *
     * @param key its key, as it is written; {@code ip} by default
     * @param condition null for every call
     * @param shadow whether it only counts, and denies nothing
     */
    public record LimitedMethod(
            String method,
            String policy,
            String key,
            String permits,
            @Nullable String condition,
            boolean shadow) {
        private static LimitedMethod of(AnnotatedPolicy annotated) {
            return new LimitedMethod(
                    annotated.method(),
                    annotated.policy().name(),
                    annotated.key().isBlank() ? "ip" : annotated.key(),
                    annotated.permits(),
                    annotated.condition().isBlank() ? null : annotated.condition(),
                    annotated.shadow());
        }
    }

    /** In the form used by the documentation. */
    static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
