package io.limiter.spring.boot.actuate;

import io.limiter.spring.call.AnnotatedPolicy;
import io.limiter.spring.proxy.RateLimitedPostProcessor;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/** What the annotations of an application say, as far as their beans exist when it is asked. Thread-safe. */
record AnnotatedPolicies(ObjectProvider<RateLimitedPostProcessor> processors) {
    List<AnnotatedPolicy> all() {
        return processors.stream()
                .flatMap(processor -> processor.policies().stream())
                .toList();
    }
}
