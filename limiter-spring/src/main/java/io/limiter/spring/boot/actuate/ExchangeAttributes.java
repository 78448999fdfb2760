package io.limiter.spring.boot.actuate;

import io.limiter.Decision;
import io.limiter.http.internal.HttpRules;
import io.micrometer.observation.Observation;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;

/** The {@link SpanAttributes} of a request of WebFlux, in which there may be no servlet API. */
final class ExchangeAttributes {
    private ExchangeAttributes() {}

    /** Adds the filter's decision about a completed request. */
    static Observation.Context of(Observation.Context context) {
        if (context instanceof ServerRequestObservationContext request
                && request.getAttributes().get(HttpRules.DECISION) instanceof Decision decision) {
            SpanAttributes.note(decision, context);
        }
        return context;
    }
}
