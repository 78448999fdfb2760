package io.limiter.spring.boot.actuate;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.LimiterMonitor;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Explainer;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope;
import io.limiter.spring.RateLimited;
import io.limiter.spring.internal.AnnotatedPolicy;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoint answers, as objects of JSON, and the texts of the values. Durations are in ISO 8601 form, such as
 * {@code PT9.5S}, or {@code never}.
 */
final class Reports {
    private Reports() {}

    /** An object of JSON, with its values in the order in which they are added. */
    static final class JsonObject extends LinkedHashMap<String, @Nullable Object> {
        private static final long serialVersionUID = 1L;

        JsonObject with(String name, @Nullable Object value) {
            put(name, value);
            return this;
        }
    }

    /**
     * What is limited in an application, and the decisions since startup. Contains no clients.
     *
     * @param annotated the annotated methods, as far as their beans exist
     * @param unused by the name of each rule that has counted no request since it took effect, why
     */
    static JsonObject overview(Limiter limiter, List<AnnotatedPolicy> annotated, Map<String, String> unused) {
        LimiterConfig config = limiter.config();
        List<JsonObject> rules = config.settings().rules().stream()
                .map(rule -> rule(rule, unused.get(rule.name())))
                .toList();
        JsonObject callers = new JsonObject()
                .with("exempt", exempt(config.settings().callers().exempt()))
                .with("denied", texts(config.settings().callers().denied()))
                .with("deniedStatus", config.settings().callers().deniedStatus());
        return new JsonObject()
                .with("backend", backend(limiter.rateLimiter()))
                .with("policies", policies(limiter, config, annotated))
                .with("rules", rules)
                .with("methods", annotated.stream().map(Reports::method).toList())
                .with("callers", callers)
                .with("uncounted", config.settings().notes());
    }

    private static JsonObject backend(RateLimiter limiter) {
        Backend.Health health = limiter.monitor().health();
        JsonObject failures = new JsonObject();
        for (BackendException.Kind kind : BackendException.Kind.values()) {
            failures.put(text(kind), limiter.monitor().failures(kind));
        }
        return new JsonObject()
                .with("kind", health.servers().isEmpty() ? "in-process" : "redis")
                .with("servers", servers(health))
                .with("findings", health.findings())
                .with("failures", failures);
    }

    /** The state of each server, by name: {@code answers}, {@code suspect}, {@code away}. */
    static Map<String, String> servers(Backend.Health health) {
        Map<String, String> servers = new TreeMap<>();
        health.servers().forEach((name, state) -> servers.put(name, text(state)));
        return servers;
    }

    /**
     * The health of the Redis of a limiter. Down only while it is unreachable and policies are configured to deny then: all
     * others continue without it.
     *
     * @param made makes it of a status, {@code DOWN} if calls are denied that would be allowed if Redis answered, else {@code UP}, and
     *     of details for authorized users
     */
    static <H> H health(Limiter limiter, BiFunction<String, Map<String, Object>, H> made) {
        Backend.Health health = limiter.rateLimiter().monitor().health();
        List<String> denying = limiter.policies().values().stream()
                .filter(policy -> policy.onFailure() == FailureMode.DENY)
                .map(Policy::name)
                .toList();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("servers", servers(health));
        details.put("denied", health.isDeciding() ? List.of() : denying);
        if (!health.findings().isEmpty()) {
            details.put("findings", health.findings());
        }
        return made.apply(health.isDeciding() || denying.isEmpty() ? "UP" : "DOWN", details);
    }

    /** By name: those of the configuration, those of annotations, and others that have decided something. */
    private static JsonObject policies(Limiter limiter, LimiterConfig config, List<AnnotatedPolicy> annotated) {
        LimiterMonitor counters = limiter.rateLimiter().monitor();
        Map<String, String> methods = new HashMap<>();
        annotated.forEach(one -> methods.putIfAbsent(one.policy().name(), one.method()));
        JsonObject all = new JsonObject();
        limiter.policies().forEach((name, policy) -> {
            String definedBy =
                    config.policies().containsKey(name) ? "configuration" : methods.getOrDefault(name, "code");
            all.put(name, policy(name, policy, definedBy, counters));
        });
        for (String name : counters.policies()) {
            all.putIfAbsent(name, policy(name, null, "code", counters));
        }
        return all;
    }

    /**
     * One policy.
     *
     * @param policy null if it is known only by its decisions
     * @param definedBy {@code configuration}, the method of its annotation, or {@code code}
     */
    private static JsonObject policy(String name, @Nullable Policy policy, String definedBy, LimiterMonitor counters) {
        JsonObject shown = new JsonObject()
                .with("limits", policy == null ? List.of() : texts(policy.limits()))
                .with("onFailure", policy == null ? null : policy.onFailure().text())
                .with("deadline", policy == null ? null : Objects.toString(policy.deadline(), null))
                .with("definedBy", definedBy)
                .with("decisions", decisions(name, counters));
        if (policy != null && policy.holds() > 0) {
            JsonObject holds = new JsonObject().with("most", policy.holds()).with("held", counters.held(name));
            for (LimiterMonitor.HoldCount what : LimiterMonitor.HoldCount.values()) {
                holds.put(text(what), counters.holds(name, what));
            }
            shown.put("holds", holds);
        }
        if (policy != null && policy.isInFlight()) {
            shown.put("inFlight", new JsonObject().with("held", counters.inFlight(name)));
        }
        return shown;
    }

    /** How many calls a policy allowed, and denied or would have denied as a shadow policy, by source. */
    private static JsonObject decisions(String policy, LimiterMonitor counters) {
        JsonObject decisions = new JsonObject();
        for (Decision.Source source : Decision.Source.values()) {
            long allowed = counters.allowed(policy, source);
            long denied = counters.denied(policy, source);
            if (allowed + denied > 0) {
                decisions.put(
                        text(source), new JsonObject().with("allowed", allowed).with("denied", denied));
            }
        }
        return decisions;
    }

    private static JsonObject exempt(CallerMatcher callers) {
        return new JsonObject()
                .with("addresses", texts(callers.addresses()))
                .with("users", callers.users().stream().sorted().toList())
                .with("roles", callers.roles().stream().sorted().toList());
    }

    private static JsonObject rule(RuleDefinition rule, @Nullable String unused) {
        RuleScope scope = rule.scope();
        String key = rule.key().stream().map(KeyPart::toString).collect(Collectors.joining(" + "));
        return new JsonObject()
                .with("name", rule.name())
                .with("paths", scope.paths())
                .with("methods", scope.methods().stream().sorted().toList())
                .with("headers", texts(scope.headers()))
                .with("query", texts(scope.query()))
                .with("except", scope.except())
                .with("exempt", exempt(scope.exempt()))
                .with("isDefault", scope.isDefault())
                .with("position", text(rule.position()))
                .with("mode", text(rule.mode()))
                .with("key", key.isEmpty() ? "global" : key)
                .with("policy", rule.policy().name())
                .with("plan", Objects.toString(rule.charging().plans(), null))
                .with("cost", rule.charging().cost().toString())
                .with("settle", Objects.toString(rule.charging().actual(), null))
                .with("outcomes", Objects.toString(rule.charging().outcomes(), null))
                .with("unused", unused);
    }

    private static JsonObject method(AnnotatedPolicy annotated) {
        RateLimited written = annotated.annotation();
        return new JsonObject()
                .with("method", annotated.method())
                .with("policy", annotated.policy().name())
                .with("key", written.key().isBlank() ? "ip" : written.key())
                .with("permits", written.permits())
                .with("settle", written.settle().isBlank() ? null : written.settle())
                .with("condition", written.condition().isBlank() ? null : written.condition())
                .with("shadow", written.shadow());
    }

    /** The keys that this instance denied most in the last ten minutes, the busiest first. */
    static JsonObject denied(LimiterMonitor denials, int most) {
        return new JsonObject()
                .with(
                        "keys",
                        denials.busiest(most).stream().map(Reports::denied).toList());
    }

    private static JsonObject denied(LimiterMonitor.DeniedKey denied) {
        return new JsonObject()
                .with("policy", denied.policy())
                .with("key", denied.key().canonical())
                .with("parts", Explainer.parts(denied.key()))
                .with("rules", denied.rules())
                .with("shadow", denied.shadow())
                .with("denied", denied.denied())
                .with("limit", denied.limit())
                .with("source", text(denied.source()))
                .with("sinceLast", denied.sinceLast().toString())
                .with("retryAfter", Objects.toString(denied.retryAfter(), "never"));
    }

    private static List<String> texts(List<?> values) {
        return values.stream().map(String::valueOf).toList();
    }

    /** In the form used by the documentation. */
    static String text(Enum<?> value) {
        return Explainer.text(value);
    }
}
