package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.HttpSettings.Headers;
import io.limiter.config.HttpSettings.Reset;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The older forms, which have room for one limit: the one that binds. draft-ietf-httpapi-ratelimit-headers-07 and -06,
 * and {@code X-RateLimit-*}. Set, not added: their fields are no lists. Where a request meets several decisions, in
 * another filter or on its way to another path, the one with the least remaining stands.
 *
 * <p>The reset of an answer that denies is its Retry-After, as both drafts ask. A request that can never pass has neither:
 * without a reset the fields of both drafts are incomplete, so none of them is sent, and of {@code X-RateLimit-*} all but
 * the reset.
 */
final class ClosestLimitFields implements QuotaFields {
    private static final String POLICY_FIELD = "RateLimit-Policy";

    private final Headers headers;
    private final Reset reset;
    private final Clock clock;
    private final Map<String, Map<Long, Long>> windowByQuota = new HashMap<>();
    private final Map<String, String> texts = new HashMap<>();

    ClosestLimitFields(HttpSettings settings, Collection<Policy> policies, Clock clock) {
        this.headers = settings.headers();
        this.reset = settings.reset();
        this.clock = clock;
        for (Policy policy : policies) {
            Map<Long, Long> windows = windows(policy);
            windowByQuota.put(policy.name(), windows);
            texts.put(policy.name(), text(windows));
        }
    }

    @Override
    public String names() {
        return switch (headers) {
            case DRAFT_7 -> "RateLimit, RateLimit-Policy";
            case DRAFT_6 -> "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy";
            default -> "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
        };
    }

    @Override
    public Set<String> promises() {
        return headers == Headers.X_RATELIMIT ? Set.of("X-RateLimit-Reset") : Set.of(names().split(", ", -1));
    }

    @Override
    public void add(Decision decision, AnswerSoFar answer, ResponseFields response) {
        LimitOutcome binding = decision.binding().orElse(null);
        boolean never = decision.retryAfterMicros() == LimitOutcome.NEVER;
        if (binding == null || !answer.isClosest(binding) || (never && headers != Headers.X_RATELIMIT)) {
            return;
        }
        long limit = Whole.clamped(binding.limit().capacity());
        long remaining = Whole.clamped(binding.remaining());
        long resetMicros = decision.allowed() ? binding.resetMicros() : decision.retryAfterMicros();
        long seconds = Whole.clamped(Whole.seconds(resetMicros));
        switch (headers) {
            case DRAFT_7 ->
                response.set("RateLimit", "limit=" + limit + ", remaining=" + remaining + ", reset=" + seconds);
            case DRAFT_6 -> {
                response.set("RateLimit-Limit", Long.toString(limit));
                response.set("RateLimit-Remaining", Long.toString(remaining));
                response.set("RateLimit-Reset", Long.toString(seconds));
            }
            default -> {
                response.set("X-RateLimit-Limit", Long.toString(limit));
                response.set("X-RateLimit-Remaining", Long.toString(remaining));
                if (!never) {
                    response.set(
                            "X-RateLimit-Reset",
                            Long.toString(reset == Reset.DELTA ? seconds : epochSeconds(resetMicros)));
                }
                return;
            }
        }
        String policies = policies(decision.charges());
        if (!policies.isEmpty()) {
            response.set(POLICY_FIELD, policies);
        }
    }

    private long epochSeconds(long laterMicros) {
        Instant now = clock.instant();
        long microsOfSecond = (now.getNano() + 999L) / 1_000;
        return Whole.clamped(now.getEpochSecond() + Whole.seconds(microsOfSecond + laterMicros));
    }

    private String policies(List<Charge> charges) {
        if (charges.size() == 1) {
            return texts.getOrDefault(charges.get(0).policy().name(), "");
        }
        Map<Long, Long> all = new LinkedHashMap<>();
        for (Charge charge : charges) {
            windowByQuota
                    .getOrDefault(charge.policy().name(), Map.of())
                    .forEach((quota, window) -> all.merge(quota, window, Math::max));
        }
        return text(all);
    }

    /** In these drafts a policy must have a window, and no two the same quota: of such, the longer binds in the long run. */
    private static Map<Long, Long> windows(Policy policy) {
        Map<Long, Long> windows = new LinkedHashMap<>();
        policy.limits().stream()
                .map(QuotaWindow::of)
                .filter(window -> window.windowSeconds() > 0)
                .forEach(window -> windows.merge(window.quota(), window.windowSeconds(), Math::max));
        return windows;
    }

    private static String text(Map<Long, Long> windows) {
        StringBuilder text = new StringBuilder();
        windows.forEach((quota, window) -> text.append(text.isEmpty() ? "" : ", ")
                .append(quota)
                .append(";w=")
                .append(window));
        return text.toString();
    }
}
