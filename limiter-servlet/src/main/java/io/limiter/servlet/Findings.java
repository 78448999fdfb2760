package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * What a filter finds to be wrong around it, each told once. docs/diagnostics.md has a section for each code. Nothing that
 * a client has sent is logged here.
 */
final class Findings {
    private static final Logger LOG = DiagnosticLog.of(Findings.class);

    private final Set<String> told = ConcurrentHashMap.newKeySet();

    void countedByAnotherFilter(String policy) {
        if (told.add("RL-320")) {
            LOG.warn(
                    "RL-320 two filters charge policy '{}' for one key in one request; remove one of them, or give"
                            + " their policies different names",
                    policy);
        }
    }

    void answeredBefore() {
        if (told.add("RL-321")) {
            LOG.warn("RL-321 the response was committed before the request came to the limiter, so nothing can be told"
                    + " to the client; map the limiter's filter before the one that answers");
        }
    }

    void handlerFailed(RejectionHandler handler, Exception failure) {
        if (told.add("RL-322")) {
            LOG.warn(
                    "RL-322 the rejection handler {} failed, so the standard answer stands in, or what it has"
                            + " sent already",
                    handler.getClass().getName(),
                    failure);
        }
    }

    void pathRefused() {
        if (told.add("RL-323")) {
            LOG.warn("RL-323 the container lets ambiguous paths in and refuses to decode them; rules are matched with"
                    + " what they could mean");
        }
    }

    void rulesBeginWithTheContextPath(String contextPath, String rules, String inside) {
        if (told.add("RL-325")) {
            LOG.warn(
                    "RL-325 rules begin with the context path {}: {}. Paths of rules are inside the application, so they"
                            + " match no request to it; write {} instead. Ignore this if the application has such paths"
                            + " inside",
                    contextPath,
                    rules,
                    inside);
        }
    }

    void methodMayStandInABody(String filterClass) {
        if (told.add("RL-324")) {
            LOG.warn(
                    "RL-324 {} takes methods from the bodies of forms, where the limiter does not look, and there are"
                            + " rules by method; add limiter.http.method-override = forms",
                    filterClass);
        }
    }
}
