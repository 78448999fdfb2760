package io.limiter.spring.boot;

import io.limiter.FailureMode;
import java.time.Duration;
import java.util.List;

/**
 * What stands below {@code limiter.policies.<name>}. Nothing implements it: the parser of limiter-core reads the text. It is
 * here for IDEs, which complete what stands below a name by the type that the metadata gives.
 */
abstract class PolicyProperties {
    /** Limits that hold together, such as {@code 3/10s sliding-list, 100/1h fixed name hourly}. */
    public abstract List<String> getLimits();

    public abstract void setLimits(List<String> limits);

    /** What answers while Redis can't; {@code local} unless set. */
    public abstract FailureMode getOnFailure();

    public abstract void setOnFailure(FailureMode onFailure);

    /** The longest that a decision waits for Redis; {@code limiter.redis.deadline} unless set. */
    public abstract Duration getDeadline();

    public abstract void setDeadline(Duration deadline);
}
