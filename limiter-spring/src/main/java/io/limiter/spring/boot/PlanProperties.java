package io.limiter.spring.boot;

import java.util.List;

/** What stands below {@code limiter.plans.<name>}; for IDEs, as {@link PolicyProperties}. */
abstract class PlanProperties {
    /** Limits that hold together, such as {@code 1000/1m}; each rule with plans counts by them on its own. */
    public abstract List<String> getLimits();

    public abstract void setLimits(List<String> limits);
}
