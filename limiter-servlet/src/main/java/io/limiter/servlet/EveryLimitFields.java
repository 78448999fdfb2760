package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.servlet.ToldLimits.LimitText;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10: every limit that was
 * charged. Both fields are lists, to which another filter may have put its own lines, so ours are added.
 */
final class EveryLimitFields implements QuotaFields {
    private static final String POLICY_FIELD = "RateLimit-Policy";
    private static final String FIELD = "RateLimit";

    private final Map<String, List<LimitText>> texts = new HashMap<>();

    EveryLimitFields(Collection<Policy> policies, Published published) {
        for (Policy policy : policies) {
            texts.put(
                    policy.name(),
                    policy.limits().stream()
                            .map(limit -> new LimitText(
                                    StructuredText.quoted(published.name(policy, limit)), parameters(limit)))
                            .toList());
        }
    }

    private static String parameters(Limit limit) {
        QuotaWindow window = QuotaWindow.of(limit);
        return ";q=" + window.quota() + (window.windowSeconds() == 0 ? "" : ";w=" + window.windowSeconds());
    }

    @Override
    public String names() {
        return FIELD + ", " + POLICY_FIELD;
    }

    @Override
    public void add(Decision decision, AnswerSoFar answer, ResponseFields response) {
        List<LimitOutcome> outcomes = decision.outcomes();
        int at = 0;
        for (Charge charge : decision.charges()) {
            List<LimitText> limits = texts.getOrDefault(charge.policy().name(), List.of());
            for (int i = 0; i < limits.size(); i++) {
                answer.told().put(limits.get(i), outcomes.get(at + i));
            }
            at += charge.policy().limits().size();
        }
        answer.told().write(POLICY_FIELD, FIELD, decision, response);
    }

    @Override
    public void denied(Decision decision, AnswerSoFar answer, ResponseFields response) {
        answer.told().write(POLICY_FIELD, FIELD, decision, response);
    }
}
