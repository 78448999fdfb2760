package io.limiter.servlet.quota;

import static io.limiter.servlet.quota.FieldNumbers.clamped;
import static io.limiter.servlet.quota.FieldNumbers.seconds;
import static io.limiter.servlet.quota.LimitsInAnswer.NUMBERS;
import static io.limiter.servlet.quota.LimitsInAnswer.POLICIES;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.config.HttpSettings;
import io.limiter.config.HttpSettings.Headers;
import io.limiter.config.HttpSettings.Reset;
import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The response fields that give a client its quota, in the configured form. Immutable.
 *
 * <p>{@code RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10 list every limit that was charged.
 * They are written anew with each decision that a request meets, so that a name appears once, and no number contradicts the
 * Retry-After of a later denial.
 *
 * <p>The older forms (draft-07 and -06, and {@code X-RateLimit-*}) have room for one limit: the one that binds. Where a request
 * meets several decisions it is the one with the least remaining. The reset of an answer that denies is its Retry-After, as
 * both drafts ask. A request that can never pass has neither: without a reset the fields of both drafts are incomplete, so none
 * of them is sent, and of {@code X-RateLimit-*} all but the reset.
 */
public final class QuotaFields {
    private final Headers headers;
    private final Reset reset;
    private final String exposed;
    private final Clock clock;

    /** The form that the settings select. */
    public QuotaFields(HttpSettings settings, Clock clock) {
        this.headers = settings.headers();
        this.reset = settings.reset();
        this.exposed =
                !settings.exposeHeaders() ? "" : headers == Headers.NONE ? "Retry-After" : names() + ", Retry-After";
        this.clock = clock;
    }

    /**
     * Adds a decision to an answer.
     *
     * @param fields gets name and value of each field that the answer gets, or gets anew
     */
    public void add(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        answer.add(decision);
        boolean exact = decision.source().isExact();
        if (headers != Headers.DRAFT_10) {
            if (exact && headers != Headers.NONE) {
                closestLimit(decision, answer, fields);
            }
        } else if (exact || !decision.allowed()) {
            everyLimit(decision, answer, fields);
        }
    }

    /** Whether the fields are lists, to which other filters may add lines; else each has one line. */
    public boolean areLists() {
        return headers == Headers.DRAFT_10;
    }

    /** The names of all fields that scripts of other origins need, as a list (CORS); empty unless the settings expose them. */
    public String exposed() {
        return exposed;
    }

    /** The fields that contain a time and are not written anew by a later denial: one that is final removes them. */
    public Set<String> promises() {
        return switch (headers) {
            case DRAFT_10, NONE -> Set.of();
            case X_RATELIMIT -> Set.of("X-RateLimit-Reset");
            case DRAFT_7, DRAFT_6 -> Set.of(names().split(", ", -1));
        };
    }

    private String names() {
        return switch (headers) {
            case DRAFT_10, DRAFT_7 -> NUMBERS + ", " + POLICIES;
            case DRAFT_6 -> "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, " + POLICIES;
            case X_RATELIMIT -> "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
            case NONE -> "";
        };
    }

    private static void everyLimit(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        StringBuilder values = new StringBuilder(32);
        LimitText text = null;
        for (LimitOutcome outcome : answer.outcomes()) {
            Limit limit = outcome.limit();
            text = LimitText.of(text, answer.name(outcome.charge().policy(), limit), limit);
            values.append(text.start()).append(clamped(outcome.remaining()));
            long seconds = seconds(outcome.nextMicros());
            if (seconds > 0 && !isAfterRetry(decision, seconds)) {
                values.append(";t=").append(seconds);
            }
        }
        if (text != null) {
            fields.accept(POLICIES, text.policies());
            fields.accept(NUMBERS, values.toString());
        }
    }

    /**
     * Retry-After should not be earlier than any {@code t} beside it. Those of the limits that deny are not later; one
     * that admits may refill much later, which does not matter to a client that another one denied, so it is left out.
     * A request that can never pass has no Retry-After: every {@code t} would read as one.
     */
    private static boolean isAfterRetry(Decision decision, long seconds) {
        return !decision.allowed()
                && (decision.retryAfterMicros() == LimitOutcome.NEVER
                        || seconds > seconds(decision.retryAfterMicros()));
    }

    private void closestLimit(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        LimitOutcome binding = decision.binding().orElse(null);
        boolean never = decision.retryAfterMicros() == LimitOutcome.NEVER;
        if (binding == null || !answer.replaceClosest(binding) || (never && headers != Headers.X_RATELIMIT)) {
            return;
        }
        long limit = clamped(binding.limit().capacity());
        long remaining = clamped(binding.remaining());
        long resetMicros = decision.allowed() ? binding.resetMicros() : decision.retryAfterMicros();
        long seconds = seconds(resetMicros);
        if (headers == Headers.DRAFT_7) {
            fields.accept(NUMBERS, "limit=" + limit + ", remaining=" + remaining + ", reset=" + seconds);
        } else {
            String prefix = headers == Headers.DRAFT_6 ? "RateLimit-" : "X-RateLimit-";
            boolean epoch = headers == Headers.X_RATELIMIT && reset == Reset.EPOCH;
            fields.accept(prefix + "Limit", Long.toString(limit));
            fields.accept(prefix + "Remaining", Long.toString(remaining));
            if (!never) {
                fields.accept(prefix + "Reset", Long.toString(epoch ? epochSeconds(resetMicros) : seconds));
            }
        }
        String policies = headers == Headers.X_RATELIMIT ? null : policies(decision);
        if (policies != null) {
            fields.accept(POLICIES, policies);
        }
    }

    private long epochSeconds(long laterMicros) {
        Instant now = clock.instant();
        long microsOfSecond = (now.getNano() + 999L) / 1_000;
        return clamped(now.getEpochSecond() + seconds(microsOfSecond + laterMicros));
    }

    /**
     * In these drafts a policy must have a window, and no two the same quota: of such, the longer binds in the long run. Null
     * when there is none.
     */
    private static @Nullable String policies(Decision decision) {
        Map<Long, Long> windowByQuota = new LinkedHashMap<>();
        for (Charge charge : decision.charges()) {
            for (Limit limit : charge.policy().limits()) {
                long window = clamped(limit.algorithm().windowSeconds(limit));
                if (window > 0) {
                    windowByQuota.merge(clamped(limit.capacity()), window, Math::max);
                }
            }
        }
        StringJoiner policies = new StringJoiner(", ");
        windowByQuota.forEach((quota, window) -> policies.add(quota + ";w=" + window));
        return windowByQuota.isEmpty() ? null : policies.toString();
    }
}
