package io.limiter.spring.boot.actuate;

import io.limiter.servlet.Explanation;
import io.limiter.servlet.RequestSample;
import java.util.Map;

/**
 * Explains a request, and which rules are of no use, if the rules are in filters of this application. Uses no type of the servlet API, which not every
 * application has.
 */
interface RequestExplainer {
    /**
     * What each filter would do with the request, in filter order. The first one that does not admit it answers it.
     *
     * @throws IllegalArgumentException if it can't be a request of this application
     */
    Map<String, Explanation> explain(RequestSample sample);

    /** By the name of each rule that has counted nothing, why. */
    Map<String, String> unusedRules();
}
