package io.limiter.http.internal.answer;

import static io.limiter.http.internal.answer.LimitsInAnswer.NUMBERS;
import static io.limiter.http.internal.answer.LimitsInAnswer.POLICIES;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.config.HttpSettings;
import io.limiter.internal.config.HttpSettings.Headers;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The response fields with the quota of a client, in the configured form. Immutable.
 *
 * <p>{@code RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10 list every limit that was charged.
 * They are rewritten with each decision of a request, so that a name appears once, and no number contradicts the
 * Retry-After of a later denial.
 *
 * <p>{@code X-RateLimit-*} have space for one limit: the binding one. If a request has several decisions, it is the one
 * with the least remaining. The reset of a denial is its Retry-After. A request that can never be allowed has neither.
 */
public final class QuotaFields {
    /** RFC 9651 section 3.3.1: at most 15 digits. */
    private static final long MOST = 999_999_999_999_999L;

    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final String[] LEGACY = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"};

    private final boolean draft;
    private final boolean legacy;
    private final Clock clock;

    /** The form that the settings select. */
    public QuotaFields(HttpSettings settings, Clock clock) {
        this.draft = settings.headers().contains(Headers.DRAFT_10);
        this.legacy = settings.headers().contains(Headers.X_RATELIMIT);
        this.clock = clock;
    }

    /**
     * Adds a decision to an answer.
     *
     * @param fields gets name and value of each field to set
     */
    public void add(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        answer.add(decision);
        boolean exact = decision.source().isExact();
        if (draft && (exact || !decision.allowed())) {
            everyLimit(decision, answer, fields);
        }
        if (exact && legacy) {
            closestLimit(decision, answer, fields);
        }
    }

    /** Writes the fields of a decision, after those of earlier decisions about the same request. */
    public <R> void write(Decision decision, LimitsInAnswer answer, ResponseType<R> type, R response) {
        add(decision, answer, (field, line) -> {
            // A list, to which other filters may add lines.
            if (field.equals(NUMBERS) || field.equals(POLICIES)) {
                replaceLine(field, answer.replaceLine(field, line), line, type, response);
            } else {
                type.set().write(response, field, line);
            }
        });
    }

    /** Replaces our own earlier line. Lines of other code stay. */
    private static <R> void replaceLine(
            String field, @Nullable String former, String line, ResponseType<R> type, R response) {
        List<String> all =
                former == null ? List.of() : new ArrayList<>(type.lines().apply(response, field));
        int at = former == null ? -1 : all.indexOf(former);
        if (at < 0) {
            // The first one, or the response was reset.
            type.add().write(response, field, line);
        } else {
            all.set(at, line);
            type.setAll(response, field, all);
        }
    }

    /**
     * The fields of earlier decisions that a denial removes and does not rewrite: without a Retry-After their time would be read as
     * the one to try again.
     */
    public Set<String> untrueAfter(Decision denial) {
        return legacy && denial.retryAfterMicros() < 0 ? Set.of(LEGACY[2]) : Set.of();
    }

    /** Whole seconds, rounded up: a client that tries again after them must not be too early. Never above 13 digits. */
    public static long seconds(long micros) {
        return micros / MICROS_PER_SECOND + (micros % MICROS_PER_SECOND == 0 ? 0 : 1);
    }

    /** The number, or the largest one that a field can have. */
    private static long clamped(long number) {
        return Math.min(number, MOST);
    }

    /**
     * The text of a limit in the fields, at its position among others, without the numbers of a client. Cached in a
     * table of fixed size, because nearly all answers list the same limits.
     *
     * @param before the policies before it in the answer; empty if it is the first
     * @param policies those with it: {@code "api";q=100;w=60}
     * @param start the beginning of its numbers: {@code "api";r=}
     */
    private record LimitText(String before, String name, Limit limit, String policies, String start) {
        /** By the name and the text before it. A place may be overwritten at any time, by any thread. */
        private static final @Nullable LimitText[] KNOWN = new LimitText[1_024];

        /** The text of a limit of that name in the answer, after these policies. */
        static LimitText of(String before, String name, Limit limit) {
            int place = (before.hashCode() + name.hashCode() + System.identityHashCode(limit)) & (KNOWN.length - 1);
            LimitText known = KNOWN[place];
            if (known == null || known.limit != limit || !known.name.equals(name) || !known.before.equals(before)) {
                long window = clamped(limit.windowSeconds());
                String item = (before.isEmpty() ? "\"" : ", \"") + name;
                String policy = item + "\";q=" + clamped(limit.quota())
                        + (limit.algorithm().isInFlight() ? ";qu=\"concurrent-requests\"" : "")
                        + (window > 0 ? ";w=" + window : "");
                known = new LimitText(before, name, limit, before + policy, item + "\";r=");
                KNOWN[place] = known;
            }
            return known;
        }
    }

    private static void everyLimit(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        String values = "";
        String policies = "";
        for (LimitOutcome outcome : answer.outcomes()) {
            Limit limit = outcome.limit();
            LimitText text = LimitText.of(policies, answer.name(outcome.policy(), limit), limit);
            policies = text.policies;
            long remaining = clamped(outcome.remaining());
            long seconds = seconds(outcome.nextMicros());
            boolean isTimed = seconds > 0 && !isAfterRetry(decision, seconds);
            if (isTimed && (int) remaining == remaining && (int) seconds == seconds) {
                // The compiler makes this text without a buffer, which it can't of longs.
                values = values + text.start + (int) remaining + ";t=" + (int) seconds;
            } else {
                values = values + text.start + remaining + (isTimed ? ";t=" + seconds : "");
            }
        }
        if (!policies.isEmpty()) {
            fields.accept(POLICIES, policies);
            fields.accept(NUMBERS, values);
        }
    }

    /**
     * Retry-After should not be earlier than any {@code t} in the same answer. Those of the denying limits are not
     * later; a limit that admits may refill much later, which does not matter to a denied client, so it is left out. A
     * request that can never be allowed, or nobody knows when, has no Retry-After: every {@code t} would be read as one.
     */
    private static boolean isAfterRetry(Decision decision, long seconds) {
        return !decision.allowed()
                && (decision.retryAfterMicros() < 0 || seconds > seconds(decision.retryAfterMicros()));
    }

    private void closestLimit(Decision decision, LimitsInAnswer answer, BiConsumer<String, String> fields) {
        LimitOutcome binding = decision.binding().orElse(null);
        if (binding == null || !answer.tryReplaceClosest(binding)) {
            return;
        }
        fields.accept(LEGACY[0], Long.toString(clamped(binding.limit().quota())));
        fields.accept(LEGACY[1], Long.toString(clamped(binding.remaining())));
        long resetMicros = decision.allowed() ? binding.resetMicros() : decision.retryAfterMicros();
        if (resetMicros >= 0) {
            fields.accept(LEGACY[2], Long.toString(epochSeconds(resetMicros)));
        }
    }

    private long epochSeconds(long laterMicros) {
        Instant now = clock.instant();
        long microsOfSecond = (now.getNano() + 999L) / 1_000;
        return clamped(now.getEpochSecond() + seconds(microsOfSecond + laterMicros));
    }
}
