package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10: every limit that was
 * charged. Lines are added, not set: both fields are lists, to which another filter may have put its own.
 */
final class EveryLimitFields implements QuotaFields {
    private static final String POLICY_FIELD = "RateLimit-Policy";
    private static final String FIELD = "RateLimit";

    private final Map<String, PolicyText> texts = new HashMap<>();

    /**
     * What never changes of a policy.
     *
     * @param policies the items of all its limits
     * @param starts of each limit, its item of the other field up to the number
     */
    private record PolicyText(String policies, List<String> starts) {
        static PolicyText of(Policy policy, Published published) {
            List<String> names = policy.limits().stream()
                    .map(limit -> StructuredText.quoted(published.name(policy, limit)))
                    .toList();
            StringBuilder policies = new StringBuilder();
            for (int i = 0; i < names.size(); i++) {
                policies.append(i == 0 ? "" : ", ")
                        .append(names.get(i))
                        .append(parameters(policy.limits().get(i)));
            }
            return new PolicyText(
                    policies.toString(),
                    names.stream().map(name -> name + ";r=").toList());
        }

        private static String parameters(Limit limit) {
            QuotaWindow window = QuotaWindow.of(limit);
            return ";q=" + window.quota() + (window.windowSeconds() == 0 ? "" : ";w=" + window.windowSeconds());
        }
    }

    EveryLimitFields(Collection<Policy> policies, Published published) {
        policies.forEach(policy -> texts.put(policy.name(), PolicyText.of(policy, published)));
    }

    @Override
    public String names() {
        return FIELD + ", " + POLICY_FIELD;
    }

    @Override
    public void add(Decision decision, ChargedOnce charged, HttpServletResponse response) {
        List<Charge> charges = decision.charges();
        StringBuilder values = new StringBuilder(64);
        StringBuilder policies = charges.size() == 1 ? null : new StringBuilder(128);
        int first = 0;
        for (int c = 0; c < charges.size(); c++) {
            Policy policy = charges.get(c).policy();
            int limits = policy.limits().size();
            PolicyText text = texts.get(policy.name());
            if (text != null && isFirstOfItsPolicy(charges, c)) {
                for (int i = 0; i < limits; i++) {
                    values.append(values.isEmpty() ? "" : ", ")
                            .append(text.starts().get(i));
                    appendNumbers(decision, closest(decision, c, first, i), values);
                }
                if (policies == null) {
                    response.addHeader(POLICY_FIELD, text.policies());
                } else {
                    policies.append(policies.isEmpty() ? "" : ", ").append(text.policies());
                }
            }
            first += limits;
        }
        if (policies != null && !policies.isEmpty()) {
            response.addHeader(POLICY_FIELD, policies.toString());
        }
        if (!values.isEmpty()) {
            response.addHeader(FIELD, values.toString());
        }
    }

    private static void appendNumbers(Decision decision, LimitOutcome outcome, StringBuilder values) {
        values.append(Whole.clamped(outcome.remaining()));
        long seconds = Whole.seconds(outcome.nextMicros());
        if (seconds > 0 && !isAfterRetry(decision, seconds)) {
            values.append(";t=").append(Whole.clamped(seconds));
        }
    }

    /**
     * Retry-After should not be earlier than any {@code t} beside it. Those of the limits that deny are not later; one
     * that lets pass may refill much later, which does not matter to who was denied by another, so it is left out.
     */
    private static boolean isAfterRetry(Decision decision, long seconds) {
        return !decision.allowed()
                && decision.retryAfterMicros() != LimitOutcome.NEVER
                && seconds > Whole.seconds(decision.retryAfterMicros());
    }

    private static boolean isFirstOfItsPolicy(List<Charge> charges, int index) {
        for (int i = 0; i < index; i++) {
            if (isSamePolicy(charges.get(i), charges.get(index))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSamePolicy(Charge one, Charge other) {
        return one.policy().name().equals(other.policy().name());
    }

    /** One name stands once in the field; where a policy was charged for several keys, the one that is nearest to its end. */
    private static LimitOutcome closest(Decision decision, int charge, int first, int limit) {
        List<Charge> charges = decision.charges();
        LimitOutcome closest = decision.outcomes().get(first + limit);
        int at = first;
        for (int c = charge + 1; c < charges.size(); c++) {
            at += charges.get(c - 1).policy().limits().size();
            if (isSamePolicy(charges.get(c), charges.get(charge))) {
                LimitOutcome other = decision.outcomes().get(at + limit);
                if (isCloser(other, closest)) {
                    closest = other;
                }
            }
        }
        return closest;
    }

    private static boolean isCloser(LimitOutcome one, LimitOutcome than) {
        if (one.allowed() != than.allowed()) {
            return than.allowed();
        }
        return one.remaining() < than.remaining()
                || (one.remaining() == than.remaining() && one.nextMicros() > than.nextMicros());
    }
}
