package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RulePlans;
import io.limiter.servlet.ConfiguredRule.Verdict;
import io.limiter.servlet.Explanation.ChargeReport;
import io.limiter.servlet.Explanation.LimitReport;
import io.limiter.servlet.Explanation.RuleReport;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts into words what rules do with a request. It decides nothing: it asks the rules, and looks at the state without taking anything. */
final class Explainer {
    private final RateLimiter limiter;

    Explainer(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /**
     * What a rule does.
     *
     * @param rule null for one that is off
     * @param dispatch a new one, which no other rule has met
     */
    RuleReport rule(RuleDefinition definition, @Nullable ConfiguredRule rule, Dispatch dispatch) {
        String name = definition.name();
        String mode = text(definition.mode());
        if (rule == null) {
            return new RuleReport(name, mode, false, "limiter.rules." + name + ".enabled is false", null, null);
        }
        try {
            Verdict verdict = rule.verdict(dispatch);
            String path = dispatch.matchedPath();
            Charge charge = rule.charge(dispatch);
            return new RuleReport(
                    name,
                    mode,
                    charge != null,
                    why(verdict, definition, path) + missing(dispatch),
                    path,
                    charge == null ? null : charge(charge, plan(definition, charge.policy())));
        } catch (RuntimeException wrong) {
            return new RuleReport(name, mode, false, failed(wrong, dispatch), dispatch.matchedPath(), null);
        }
    }

    private static String why(Verdict verdict, RuleDefinition rule, @Nullable String path) {
        String here = "limiter.rules." + rule.name() + ".";
        return switch (verdict) {
            case COUNTED ->
                rule.mode() == RuleDefinition.Mode.SHADOW
                        ? "it matches; it is a shadow rule, so it counts and denies nothing"
                        : "it matches";
            case NOT_MATCHED ->
                path == null
                        ? "the path is not one of " + rule.paths()
                        : "the path matches; the method, a header or the query does not";
            case EXEMPT_PATH -> here + "except has the path";
            case EXEMPT_CALLER -> "limiter.exempt has the caller";
            case EXEMPT_CALLER_OF_RULE -> here + "exempt has the caller";
            case LEFT_TO_OTHER_RULES -> "it is a default rule, and another rule matches the request";
        };
    }

    /** Without the message, which may hold what the request has in clear. */
    static String failed(RuntimeException wrong, Dispatch dispatch) {
        return "it fails with " + wrong.getClass().getName() + missing(dispatch);
    }

    private static String missing(Dispatch dispatch) {
        Object methods = dispatch.request().getAttribute(SampleRequest.MISSING);
        return methods instanceof Set<?> called && !called.isEmpty()
                ? "; code of the application called " + called
                        + ", which a sample has not, so the filter can do something else"
                : "";
    }

    /** A charge, and how the key is now. */
    ChargeReport charge(Charge charge, @Nullable String plan) {
        Decision looked = limiter.peek(List.of(charge));
        return new ChargeReport(
                charge.policy().name(),
                plan,
                charge.key().canonical(),
                charge.permits(),
                looked.allowed(),
                text(looked.source()),
                duration(looked.retryAfterMicros()),
                looked.outcomes().stream()
                        .map(one -> new LimitReport(
                                one.limit().toString(),
                                one.allowed(),
                                one.remaining(),
                                duration(one.retryAfterMicros()),
                                duration(one.resetMicros())))
                        .toList());
    }

    private static @Nullable String plan(RuleDefinition rule, Policy policy) {
        RulePlans plans = rule.charging().plans();
        return plans == null
                ? null
                : plans.policies().entrySet().stream()
                        .filter(plan -> plan.getValue().equals(policy))
                        .map(Map.Entry::getKey)
                        .findFirst()
                        .orElse(null);
    }

    /** Why a decision denies. */
    static String reason(Decision denial) {
        LimitOutcome binding = denial.binding().orElse(null);
        return binding == null
                ? "Redis does not answer, and a policy denies then"
                : "policy '" + binding.policy().name() + "' denies the key "
                        + binding.charge().key().canonical() + " by its limit " + binding.limit();
    }

    static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String duration(long micros) {
        return micros == LimitOutcome.NEVER ? "never" : Objects.toString(Duration.of(micros, ChronoUnit.MICROS));
    }
}
