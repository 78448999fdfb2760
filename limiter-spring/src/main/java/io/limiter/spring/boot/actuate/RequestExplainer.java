package io.limiter.spring.boot.actuate;

import io.limiter.servlet.Explanation;
import io.limiter.servlet.RequestSample;
import java.util.Map;

/**
 * Explains a request, if the rules are in filters of this application. Uses no type of the servlet API, which not every
 * application has.
 */
@FunctionalInterface
interface RequestExplainer {
    /**
     * What each filter would do with the request, in filter order. The first one that does not admit it answers it.
     *
     * @throws IllegalArgumentException if it can't be a request of this application
     */
    Map<String, Explanation> explain(RequestSample sample);
}
