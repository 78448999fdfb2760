package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import java.time.Clock;
import java.util.Collection;
import java.util.Set;

/** The response fields that tell a client its quota, in one of their forms. Independent of the servlet API. Thread-safe. */
interface QuotaFields {
    /** Tells what a decision with exact numbers says, and nothing that was not decided. */
    void add(Decision decision, AnswerSoFar answer, ResponseFields response);

    /** Makes what was told before fit a denial that has no exact numbers of its own. */
    default void denied(Decision decision, AnswerSoFar answer, ResponseFields response) {}

    /** The names of the fields, as a list; empty when there are none. */
    String names();

    /** The names of all fields that scripts of other origins need, as a list. */
    default String exposed() {
        return (names().isEmpty() ? "" : names() + ", ") + "Retry-After";
    }

    /** Which of the fields promise a time, and are written once for a request: a denial for good takes them back. */
    default Set<String> promises() {
        return Set.of();
    }

    /** The form that is configured. All text that does not depend on a decision is made here. */
    static QuotaFields of(HttpSettings settings, Collection<Policy> policies, Published published, Clock clock) {
        return switch (settings.headers()) {
            case DRAFT_10 -> new EveryLimitFields(policies, published);
            case DRAFT_7, DRAFT_6, X_RATELIMIT -> new ClosestLimitFields(settings, policies, clock);
            case NONE -> new NoFields();
        };
    }
}
