package io.limiter.spring.boot;

import io.limiter.servlet.RateLimitFilter;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.SmartLifecycle;

/** Denies the requests that filters hold before the web server begins to stop, which would wait for them or drop them. */
final class HeldRequestsAtStop implements SmartLifecycle {
    private final ObjectProvider<FilterRegistrationBean<?>> registrations;
    private volatile List<RateLimitFilter> running = List.of();

    HeldRequestsAtStop(ObjectProvider<FilterRegistrationBean<?>> registrations) {
        this.registrations = registrations;
    }

    @Override
    public void start() {
        running = registrations.stream()
                .map(FilterRegistrationBean::getFilter)
                .filter(RateLimitFilter.class::isInstance)
                .map(RateLimitFilter.class::cast)
                .toList();
        running.forEach(RateLimitFilter::startHolding);
    }

    @Override
    public void stop() {
        running.forEach(RateLimitFilter::stopHolding);
        running = List.of();
    }

    @Override
    public boolean isRunning() {
        return !running.isEmpty();
    }
}
