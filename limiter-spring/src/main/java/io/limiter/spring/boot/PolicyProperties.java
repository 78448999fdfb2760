package io.limiter.spring.boot;

import io.limiter.FailureMode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What stands below {@code limiter.policies.<name>}, and below a rule with limits of its own. Never made: the parser of limiter-core reads the text. It is here
 * for IDEs, which complete what stands below a name by the type that the metadata gives.
 */
class PolicyProperties {
    private @Nullable List<String> limits;
    private @Nullable FailureMode onFailure;
    private @Nullable Duration deadline;

    /** Limits that hold together, such as {@code 3/10s sliding-list, 100/1h fixed name hourly}. */
    public @Nullable List<String> getLimits() {
        return limits;
    }

    public void setLimits(List<String> limits) {
        this.limits = limits;
    }

    /** What answers while Redis can't; {@code local} unless set. */
    public @Nullable FailureMode getOnFailure() {
        return onFailure;
    }

    public void setOnFailure(FailureMode onFailure) {
        this.onFailure = onFailure;
    }

    /** The longest that a decision waits for Redis; {@code limiter.redis.deadline} unless set. */
    public @Nullable Duration getDeadline() {
        return deadline;
    }

    public void setDeadline(Duration deadline) {
        this.deadline = deadline;
    }
}
