package io.limiter.spring.method;

import io.limiter.Algorithm;
import io.limiter.Policy;
import java.util.stream.Stream;

/** Reports a stock that each caller has for itself, because the key of its annotation identifies the caller. */
final class StockOfCallers {
    private StockOfCallers() {}

    /** Of an annotation whose key has the client's address or the authenticated user. */
    static Stream<String> findings(MethodScope scope, Policy policy) {
        return policy.limits().stream().noneMatch(limit -> limit.algorithm() == Algorithm.ALLOTMENT)
                ? Stream.empty()
                : Stream.of("RL-178 " + scope + ": policy '" + policy.name()
                        + "' has a stock for each caller, not one for all, because the key has the caller's"
                        + " address or the user; write key = \"global\", or a key of what is sold");
    }
}
