package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** Of the name that Spring Cloud has for it; the limiter knows no more of it. */
public class EnvironmentChangeEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
