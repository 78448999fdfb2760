package io.limiter.spring.boot.actuate;

import io.limiter.servlet.Explanation;
import io.limiter.servlet.RequestSample;
import java.util.Map;

/** Explains a request, where the rules are in filters of this application. No type of the servlet API, which not every application has. */
@FunctionalInterface
interface RequestExplainer {
    /**
     * What each filter would do with the request, in the order that the request meets them. The first that does not admit it answers it.
     *
     * @throws IllegalArgumentException if the request can't be one of this application
     */
    Map<String, Explanation> explain(RequestSample sample);
}
