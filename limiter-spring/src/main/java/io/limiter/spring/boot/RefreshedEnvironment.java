package io.limiter.spring.boot;

import io.limiter.Limiter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.SmartApplicationListener;

/** Reloads the limiter when Spring Cloud has refreshed the environment. Spring Cloud is not needed. Thread-safe. */
final class RefreshedEnvironment implements SmartApplicationListener {
    private static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private final ObjectProvider<Limiter> limiter;

    RefreshedEnvironment(ObjectProvider<Limiter> limiter) {
        this.limiter = limiter;
    }

    @Override
    public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
        return type.getName().equals(EVENT);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        try {
            limiter.getObject().reload();
        } catch (IllegalStateException refused) {
            // Already logged; the refresh of the other beans continues.
        }
    }
}
