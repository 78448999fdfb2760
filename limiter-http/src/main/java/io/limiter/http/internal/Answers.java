package io.limiter.http.internal;

import io.limiter.Decision;
import io.limiter.TimeSource;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import io.limiter.http.internal.answer.ResponseType;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.HttpSettings;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes decisions to the responses of a server, except the bodies of denials: those have another API at each door. Thread-safe.
 *
 * @param <H> answers denied requests, instead of the standard answer
 * @param <R> the responses
 */
public final class Answers<H, R> {
    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);
    private static final Map<Integer, String> TITLES =
            Map.of(403, "Forbidden", 429, "Too Many Requests", 503, "Service Unavailable");

    private final QuotaFields quota;
    private final ResponseType<R> type;
    private final @Nullable H handler;
    private final Throttle committedLog = Throttle.hourly(TimeSource.system()::nowMicros);
    private final Throttle failureLog = Throttle.hourly(TimeSource.system()::nowMicros);

    /** With this handler; null for the standard answer. */
    public Answers(HttpSettings settings, ResponseType<R> type, @Nullable H handler, Clock clock) {
        this.quota = new QuotaFields(settings, clock);
        this.type = type;
        this.handler = handler;
    }

    /**
     * The handler that a configuration names, unless one is given; null for the standard answer.
     *
     * @throws IllegalArgumentException if it can't be made
     */
    public static <H> @Nullable H handler(
            LimiterConfig config, @Nullable H given, NamedClasses classes, Class<H> type) {
        String name = config.settings().http().rejectionHandler();
        return given != null || name == null ? given : classes.get("limiter.http.rejection-handler", name, type);
    }

    /** Answers denied requests; null for the standard answer. */
    public @Nullable H handler() {
        return handler;
    }

    /** Writes the quota fields of a decision, allowed or not. False if it is too late. */
    public boolean tryWriteQuota(Decision decision, LimitsInAnswer limits, R response) {
        if (type.isCommitted().test(response)) {
            if (committedLog.tryPass()) {
                LOG.warn("RL-321 the response was committed before the request reached the limiter, so no"
                        + " answer or quota fields can be sent; map the limiter's filter before the one that answers. Logged"
                        + " once an hour");
            }
            return false;
        }
        quota.write(decision, limits, type, response);
        return true;
    }

    /**
     * A denial whose head is written.
     *
     * @param before the fields that a handler finds
     */
    public record Begun<D extends DenialAnswer>(D answer, Map<String, List<String>> before) {}

    /**
     * Writes the head of the answer to a denial. Null if it is too late.
     *
     * @param maker makes the answer, when the limits have those of the denial
     * @throws IllegalArgumentException if the decision allows
     */
    public <D extends DenialAnswer> @Nullable Begun<D> tryBegin(
            Decision denial, LimitsInAnswer limits, R response, BiFunction<Decision, LimitsInAnswer, D> maker) {
        if (!tryWriteQuota(denial, limits, response)) {
            return null;
        }
        D answer = maker.apply(denial, limits);
        Set<String> untrue = quota.untrueAfter(denial);
        Map<String, List<String>> before = handler == null && untrue.isEmpty() ? Map.of() : type.fields(response);
        if (untrue.stream().anyMatch(before::containsKey)) {
            // The servlet API can't remove single fields.
            untrue.forEach(before::remove);
            type.restore(response, before);
        }
        begin(answer, response);
        return new Begun<>(answer, before);
    }

    private void begin(DenialAnswer answer, R response) {
        type.begin().accept(response, answer.status());
        answer.fields().forEach((name, line) -> type.set().write(response, name, line));
    }

    /**
     * Writes the head again, for the standard answer, because the handler has failed. False if it is too late: what was sent is the
     * answer. Throwing the handler's exception at every denial would fill the logs.
     */
    public boolean tryBeginAgain(Throwable failure, Begun<?> begun, R response) {
        logFailed(failure);
        if (type.isCommitted().test(response)) {
            return false;
        }
        // The Content-Encoding of a failed handler would make the standard body unreadable.
        type.restore(response, begun.before);
        begin(begun.answer, response);
        return true;
    }

    /** Logs that the handler failed. */
    public void logFailed(Throwable failure) {
        NamedClasses.rethrowFatal(failure);
        if (failureLog.tryPass()) {
            LOG.warn(
                    "RL-322 the rejection handler {} failed, so the standard answer is sent, or the answer"
                            + " is what it has sent already. Logged once an hour",
                    Objects.requireNonNull(handler).getClass().getName(),
                    failure);
        }
    }

    /**
     * Begins the answer to a caller that is always denied, or to a request that was held when the server stopped: without quota
     * fields, and the handler is not called. Returns the body, a problem document (RFC 9457); null if it is too late.
     *
     * @param status 403, 429 or 503
     */
    public DenialAnswer.@Nullable Body tryRefuse(int status, R response) {
        if (type.isCommitted().test(response)) {
            return null;
        }
        type.begin().accept(response, status);
        type.set().write(response, "Cache-Control", "no-store");
        return new DenialAnswer.Body(
                "application/problem+json",
                "{\"type\":\"about:blank\",\"title\":\"" + TITLES.get(status) + "\",\"status\":" + status + "}");
    }
}
