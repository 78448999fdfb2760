package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.util.List;
import java.util.OptionalLong;

/** A denial in terms of HTTP. Independent of the servlet API. Immutable. */
final class HttpDenial {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;

    private final Decision decision;
    private final List<String> violatedPolicies;

    HttpDenial(Decision decision, Published published) {
        this.decision = decision;
        this.violatedPolicies = published.violated(decision);
    }

    Decision decision() {
        return decision;
    }

    /** 429, or 503 for an outage. */
    int status() {
        return isOutage() ? SERVICE_UNAVAILABLE : TOO_MANY_REQUESTS;
    }

    /** Whether the backend could not answer and the policy denies then; a call that can never pass is denied in any case. */
    boolean isOutage() {
        return decision.source() == Decision.Source.FAILED_CLOSED && decision.retryAfterMicros() != LimitOutcome.NEVER;
    }

    /** Whole seconds, at least 1; empty if the request can never pass. */
    OptionalLong retryAfterSeconds() {
        long micros = decision.retryAfterMicros();
        return micros == LimitOutcome.NEVER
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(1, Whole.seconds(micros)));
    }

    List<String> violatedPolicies() {
        return violatedPolicies;
    }

    /** Sets the fields that each denial has: all but those of quotas and of the body. */
    void setFields(ResponseFields response) {
        OptionalLong seconds = retryAfterSeconds();
        if (seconds.isPresent()) {
            response.set("Retry-After", Long.toString(seconds.getAsLong()));
        }
        response.set("Cache-Control", "no-store");
    }
}
