package io.limiter.spring.call;

import io.limiter.Algorithm;
import io.limiter.DiagnosticLog;
import io.limiter.spring.expression.MethodScope;
import org.slf4j.Logger;

/** Reports a stock that each caller has for itself, because the key of its annotation identifies the caller. */
final class StockOfCallers {
    private static final Logger LOG = DiagnosticLog.of(StockOfCallers.class);

    private StockOfCallers() {}

    /** Of an annotation whose key has the client's address or the authenticated user. */
    static void warn(MethodScope scope, MethodPlans plans) {
        plans.policies().values().stream()
                .filter(policy -> policy.limits().stream().anyMatch(limit -> limit.algorithm() == Algorithm.ALLOTMENT))
                .forEach(policy -> LOG.warn(
                        "RL-178 {}: policy '{}' has a stock for each caller, not one for all, because the key has the caller's"
                                + " address or the user; write key = \"global\", or a key of what is sold",
                        scope,
                        policy.name()));
    }
}
