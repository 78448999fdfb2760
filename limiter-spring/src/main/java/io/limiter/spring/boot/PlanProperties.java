package io.limiter.spring.boot;

import java.util.List;

/** The properties below {@code limiter.plans.<name>}; for IDEs, as {@link PolicyProperties}. */
abstract class PlanProperties {
    /** Limits that apply together, such as {@code 1000/1m}; each rule with plans counts separately. */
    public abstract List<String> getLimits();

    public abstract void setLimits(List<String> limits);
}
