package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DenialReason;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RulePlans;
import io.limiter.servlet.Explanation.ChargeReport;
import io.limiter.servlet.Explanation.LimitReport;
import io.limiter.servlet.Explanation.RuleReport;
import io.limiter.servlet.rejection.DenialAnswer;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Explains what rules do with a request. It calls the rules and peeks at the state, and takes nothing. */
final class Explainer {
    private final RulesInForce rules;

    Explainer(RulesInForce rules) {
        this.rules = rules;
    }

    /**
     * What the rules would do with a request now, and why. Nothing is counted.
     *
     * @param sample returns a new request each time, so that no rule sees the side effects of another one
     */
    Explanation explain(Supplier<HttpServletRequest> sample) {
        List<RuleReport> reports = new ArrayList<>();
        rules.configured.forEach(
                one -> reports.add(rule(one, rules.rules.get(one.name()), rules.dispatch(sample.get(), false))));
        Dispatch dispatch = rules.dispatch(sample.get(), false);
        int status = 0;
        String reason = "no rule counts the request";
        long retryAfter = 0;
        if (!rules.config.enabled()) {
            reason = "limiter.enabled is false";
        } else if (rules.isDenied(dispatch)) {
            status = rules.config.callers().deniedStatus();
            reason = "limiter.deny.addresses has the client's address";
            retryAfter = LimitOutcome.NEVER;
        } else {
            try {
                List<Charge> charges = rules.enforced.charges(dispatch);
                addThoseOfCode(charges, reports);
                Decision looked = charges.isEmpty() ? null : rules.limiter.peek(charges);
                if (looked != null && looked.allowed()) {
                    reason = "all limits allow it";
                } else if (looked != null) {
                    status = DenialAnswer.of(rules.config, looked).status();
                    reason = reason(looked)
                            + (dispatch.mayWaitFor(looked)
                                    ? "; it waits for that first, unless too many requests wait"
                                    : "");
                    retryAfter = looked.retryAfterMicros();
                }
            } catch (RuntimeException wrong) {
                status = 500;
                reason = "a rule can't count it: " + failed(wrong, dispatch);
            }
        }
        return new Explanation(
                status == 0,
                status,
                reason,
                duration(retryAfter),
                dispatch.paths(),
                dispatch.get().text(),
                rules.clients.isReplaced() ? "container" : text(dispatch.get().origin()),
                reports);
    }

    private void addThoseOfCode(List<Charge> charges, List<RuleReport> reports) {
        List<String> known = reports.stream()
                .flatMap(report -> Stream.ofNullable(report.charge()))
                .map(charge -> charge.policy() + " " + charge.key())
                .toList();
        charges.stream()
                .filter(charge -> !known.contains(
                        charge.policy().name() + " " + charge.key().canonical()))
                .forEach(one -> reports.add(new RuleReport(
                        "", "enforced", true, "a rule in code counts it", null, charge(one, null), null)));
    }

    /**
     * What a rule does.
     *
     * @param rule null for a disabled one
     * @param dispatch a new one, which no other rule has used
     */
    private RuleReport rule(RuleDefinition definition, @Nullable ConfiguredRule rule, Dispatch dispatch) {
        String name = definition.name();
        String mode = text(definition.mode());
        if (rule == null) {
            return new RuleReport(name, mode, false, "limiter.rules." + name + ".enabled is false", null, null, null);
        }
        try {
            Verdict verdict = rule.verdict(dispatch);
            String path = dispatch.matchedPath();
            Charge charge = rule.strictCharge(dispatch);
            return new RuleReport(
                    name,
                    mode,
                    charge != null,
                    verdict.why(definition, path) + missing(dispatch),
                    path,
                    charge == null ? null : charge(charge, plan(definition, charge.policy())),
                    rule.use.whyUnused(definition));
        } catch (RuntimeException wrong) {
            return new RuleReport(name, mode, false, failed(wrong, dispatch), dispatch.matchedPath(), null, null);
        }
    }

    /** Without the message, which may contain secrets of the request in clear. */
    private static String failed(RuntimeException wrong, Dispatch dispatch) {
        return "it fails with " + wrong.getClass().getName() + missing(dispatch);
    }

    private static String missing(Dispatch dispatch) {
        Object methods = dispatch.request().getAttribute(RequestSample.MISSING);
        return methods instanceof Set<?> called && !called.isEmpty()
                ? "; code of the application called " + called
                        + ", which a sample does not have, so the filter may behave differently"
                : "";
    }

    /** A charge, and the current state of the key. */
    private ChargeReport charge(Charge charge, @Nullable String plan) {
        Decision looked = rules.limiter.peek(List.of(charge));
        return new ChargeReport(
                charge.policy().name(),
                plan,
                charge.key().canonical(),
                charge.policy().takesMembers() ? charge.memberText() : null,
                charge.permits(),
                looked.allowed(),
                text(looked.source()),
                duration(looked.retryAfterMicros()),
                looked.outcomes().stream().map(Explainer::limit).toList());
    }

    static LimitReport limit(LimitOutcome outcome) {
        DenialReason reason = outcome.reason();
        return new LimitReport(
                outcome.limit().toString(),
                outcome.allowed(),
                reason == null ? null : reason.text(),
                outcome.remaining(),
                duration(outcome.retryAfterMicros()),
                duration(outcome.resetMicros()));
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
    private static String reason(Decision denial) {
        LimitOutcome binding = denial.binding().orElse(null);
        if (binding == null) {
            return "Redis does not answer, and a policy denies then";
        }
        Charge charge = binding.charge();
        DenialReason why = binding.reason();
        return "policy '" + charge.policy().name() + "' denies the key "
                + charge.key().canonical()
                + (charge.policy().takesMembers()
                        ? charge.member() == null ? ", without a member," : " with the member " + charge.memberText()
                        : "")
                + " by its limit " + binding.limit()
                + (why == null || why == DenialReason.QUOTA ? "" : ": " + why.text());
    }

    private static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String duration(long micros) {
        return micros == LimitOutcome.NEVER ? "never" : Objects.toString(Duration.of(micros, ChronoUnit.MICROS));
    }
}
