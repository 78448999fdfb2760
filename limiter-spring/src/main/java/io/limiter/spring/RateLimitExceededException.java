package io.limiter.spring;

import io.limiter.Decision;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A call of a limited method was denied. It has no stack trace, because a flood makes one for each call. Its message
 * contains no keys, which are client data.
 */
public final class RateLimitExceededException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Decision decision;

    /**
     * The exception for a denial.
     *
     * @throws IllegalArgumentException if the decision allows
     */
    public RateLimitExceededException(Decision decision) {
        super(null, null, false, false);
        if (decision.allowed()) {
            throw new IllegalArgumentException("the decision allows the call: " + decision);
        }
        this.decision = decision;
    }

    /** The decision. Null in a copy from another JVM: decisions are not serialized. */
    public Decision decision() {
        return decision;
    }

    /** As {@link Decision#retryAfter()}; empty in a copy from another JVM. */
    public Optional<Duration> retryAfter() {
        return Objects.isNull(decision) ? Optional.empty() : decision.retryAfter();
    }

    /** Made on demand. */
    @Override
    public String getMessage() {
        if (Objects.isNull(decision)) {
            return "denied";
        }
        String when = decision.retryAfter()
                .map(duration -> "allowed again in " + duration.toMillis() + " ms")
                .orElse(
                        decision.isRetryUnknown()
                                ? "allowed again when another call has ended"
                                : "can never be allowed");
        if (decision.outcomes().isEmpty()) {
            return "denied because no backend could decide; " + when;
        }
        return "denied by "
                + decision.violated().stream()
                        .map(outcome ->
                                outcome.policy().name() + "/" + outcome.limit().name())
                        .distinct()
                        .collect(Collectors.joining(", "))
                + "; " + when;
    }
}
