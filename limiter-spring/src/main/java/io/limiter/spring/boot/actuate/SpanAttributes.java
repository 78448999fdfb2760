package io.limiter.spring.boot.actuate;

import io.limiter.Decision;
import io.limiter.http.internal.HttpRules;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import org.springframework.http.server.observation.ServerRequestObservationContext;

/**
 * Attributes of spans for a decision: policy, outcome and source, never a key. They have few values, but are still
 * added as key values of high cardinality, which are used only in spans. Those of low cardinality become labels of a
 * metric, and a registry such as Prometheus refuses a metric with varying labels, so that either limited requests or
 * all others would be missing in {@code http.server.requests}.
 */
final class SpanAttributes {
    private SpanAttributes() {}

    /** Adds the filter's decision about a completed request. */
    static Observation.Context ofRequest(Observation.Context context) {
        if (context instanceof ServerRequestObservationContext request
                && request.getCarrier().getAttribute(HttpRules.DECISION) instanceof Decision decision) {
            note(decision, context);
        }
        return context;
    }

    /** The same about a request of WebFlux. There may be no servlet API, which this method must not name. */
    static Observation.Context ofExchange(Observation.Context context) {
        if (context
                        instanceof
                        org.springframework.http.server.reactive.observation.ServerRequestObservationContext request
                && request.getAttributes().get(HttpRules.DECISION) instanceof Decision decision) {
            note(decision, context);
        }
        return context;
    }

    private static void note(Decision decision, Observation.Context context) {
        context.addHighCardinalityKeyValues(KeyValues.of(
                "limiter.outcome",
                decision.allowed() ? "allowed" : "denied",
                "limiter.policy",
                decision.binding()
                        .map(outcome -> outcome.policy().name())
                        .orElseGet(() -> decision.charges().get(0).policy().name()),
                "limiter.source",
                Reports.text(decision.source())));
    }
}
