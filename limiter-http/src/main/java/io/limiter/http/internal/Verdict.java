package io.limiter.http.internal;

import io.limiter.Policy;
import io.limiter.internal.config.RuleDefinition;
import org.jspecify.annotations.Nullable;

/** Whether a rule counts a request and, if not, why. */
enum Verdict {
    COUNTED,
    NOT_MATCHED,
    EXEMPT_PATH,
    EXEMPT_CALLER,
    EXEMPT_CALLER_OF_RULE,
    LEFT_TO_OTHER_RULES;

    /** A sentence. */
    String why(RuleDefinition rule, @Nullable String path) {
        String here = "limiter.rules." + rule.name() + ".";
        return switch (this) {
            case COUNTED ->
                "it matches"
                        + (rule.mode() == RuleDefinition.Mode.SHADOW
                                ? "; it is a shadow rule, so it counts and denies nothing"
                                : "")
                        + (rule.charging().actual() == null
                                ? ""
                                : "; the cost is an estimate until the response has ended, then "
                                        + rule.charging().actual())
                        + (rule.policies().stream().anyMatch(Policy::isInFlight)
                                ? "; permits in flight are held until the response has ended"
                                : "");
            case NOT_MATCHED ->
                path == null
                        ? "the path is not one of " + rule.scope().paths()
                        : "the path matches; the method, a header or the query does not";
            case EXEMPT_PATH -> here + "except has the path";
            case EXEMPT_CALLER -> "limiter.exempt has the caller";
            case EXEMPT_CALLER_OF_RULE -> here + "exempt has the caller";
            case LEFT_TO_OTHER_RULES -> "it is a default rule, and another rule matches the request";
        };
    }
}
