package io.limiter.spring.webflux;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.HttpSettings.Reset;
import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The fields of one denial that tell a client its quota, in the form that is configured: those of the servlet filter, whose
 * classes need the servlet API. A test compares the two. Immutable.
 */
record QuotaHeaders(HttpSettings settings, Clock clock) {
    /** The names of all fields that there may be, as a list; empty when there are none. */
    String names() {
        return switch (settings.headers()) {
            case DRAFT_10 -> "RateLimit, RateLimit-Policy";
            case DRAFT_7 -> "RateLimit, RateLimit-Policy";
            case DRAFT_6 -> "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy";
            case X_RATELIMIT -> "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
            case NONE -> "";
        };
    }

    /** The fields of a denial; none where its numbers are not those of the limits. */
    Map<String, String> of(Decision denial, LimitNames names) {
        Map<String, String> fields = new LinkedHashMap<>();
        LimitOutcome binding = denial.binding().orElse(null);
        if (!denial.source().isExact() || binding == null) {
            return fields;
        }
        switch (settings.headers()) {
            case DRAFT_10 -> addEveryLimit(denial, names, fields);
            case DRAFT_7, DRAFT_6 -> {
                // Without a reset the fields of both are incomplete.
                if (!isNever(denial)) {
                    addBinding(denial, binding, fields);
                }
            }
            case X_RATELIMIT -> addUnofficial(denial, binding, fields);
            case NONE -> {}
        }
        return fields;
    }

    /** Of limits with one name, in one policy for several keys, the one that is nearer to its end is sent. */
    private static void addEveryLimit(Decision denial, LimitNames names, Map<String, String> fields) {
        Map<String, LimitOutcome> closest = new LinkedHashMap<>();
        denial.outcomes()
                .forEach(outcome -> closest.merge(
                        names.of(outcome), outcome, (known, other) -> isCloser(other, known) ? other : known));
        fields.put(
                "RateLimit-Policy",
                closest.entrySet().stream()
                        .map(one -> "\"" + one.getKey() + "\""
                                + QuotaWindow.of(one.getValue().limit()).parameters())
                        .collect(Collectors.joining(", ")));
        fields.put(
                "RateLimit",
                closest.entrySet().stream()
                        .map(one -> "\"" + one.getKey() + "\";r="
                                + QuotaWindow.clamped(one.getValue().remaining()) + next(one.getValue(), denial))
                        .collect(Collectors.joining(", ")));
    }

    /** A limit that admits may refill later than the call can pass, and that must not read as another Retry-After. */
    private static String next(LimitOutcome outcome, Decision denial) {
        long seconds = QuotaWindow.seconds(outcome.nextMicros());
        boolean isAfterRetry = isNever(denial) || seconds > QuotaWindow.seconds(denial.retryAfterMicros());
        return seconds > 0 && !isAfterRetry ? ";t=" + seconds : "";
    }

    private static boolean isCloser(LimitOutcome one, LimitOutcome than) {
        if (one.allowed() != than.allowed()) {
            return than.allowed();
        }
        return one.remaining() < than.remaining()
                || (one.remaining() == than.remaining() && one.nextMicros() > than.nextMicros());
    }

    private void addBinding(Decision denial, LimitOutcome binding, Map<String, String> fields) {
        long limit = QuotaWindow.of(binding.limit()).quota();
        long remaining = QuotaWindow.clamped(binding.remaining());
        long reset = QuotaWindow.seconds(denial.retryAfterMicros());
        if (settings.headers() == HttpSettings.Headers.DRAFT_7) {
            fields.put("RateLimit", "limit=" + limit + ", remaining=" + remaining + ", reset=" + reset);
        } else {
            fields.put("RateLimit-Limit", Long.toString(limit));
            fields.put("RateLimit-Remaining", Long.toString(remaining));
            fields.put("RateLimit-Reset", Long.toString(reset));
        }
        String policies = windows(denial.charges());
        if (!policies.isEmpty()) {
            fields.put("RateLimit-Policy", policies);
        }
    }

    private void addUnofficial(Decision denial, LimitOutcome binding, Map<String, String> fields) {
        fields.put(
                "X-RateLimit-Limit",
                Long.toString(QuotaWindow.of(binding.limit()).quota()));
        fields.put("X-RateLimit-Remaining", Long.toString(QuotaWindow.clamped(binding.remaining())));
        if (!isNever(denial)) {
            long micros = denial.retryAfterMicros();
            fields.put(
                    "X-RateLimit-Reset",
                    Long.toString(
                            settings.reset() == Reset.DELTA ? QuotaWindow.seconds(micros) : epochSeconds(micros)));
        }
    }

    private long epochSeconds(long laterMicros) {
        Instant now = clock.instant();
        return now.getEpochSecond() + QuotaWindow.seconds((now.getNano() + 999L) / 1_000 + laterMicros);
    }

    /** In these drafts no two policies may have one quota: of such, the longer binds in the long run. */
    private static String windows(List<Charge> charges) {
        Map<Long, Long> windows = new LinkedHashMap<>();
        charges.stream()
                .map(Charge::policy)
                .map(Policy::limits)
                .flatMap(List::stream)
                .map(QuotaWindow::of)
                .filter(window -> window.windowSeconds() > 0)
                .forEach(window -> windows.merge(window.quota(), window.windowSeconds(), Math::max));
        return windows.entrySet().stream()
                .map(one -> one.getKey() + ";w=" + one.getValue())
                .collect(Collectors.joining(", "));
    }

    private static boolean isNever(Decision denial) {
        return denial.retryAfterMicros() == LimitOutcome.NEVER;
    }
}
