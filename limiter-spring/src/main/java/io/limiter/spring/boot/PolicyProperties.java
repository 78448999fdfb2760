package io.limiter.spring.boot;

import io.limiter.FailureMode;
import java.time.Duration;
import java.util.List;

/**
 * The properties below {@code limiter.policies.<name>}. Not implemented: the parser of limiter-core reads the text. For
 * IDEs, which use the type in the metadata to complete the properties below a name.
 */
abstract class PolicyProperties {
    /** Limits that apply together, such as {@code 3/10s sliding-list, 100/1h fixed name hourly}. */
    public abstract List<String> getLimits();

    public abstract void setLimits(List<String> limits);

    /** When its stock opens, such as {@code 2026-11-27T10:00:00+01:00}; at once unless set. */
    public abstract String getOpens();

    public abstract void setOpens(String opens);

    /** When its stock closes; an {@code allotment} needs it. */
    public abstract String getCloses();

    public abstract void setCloses(String closes);

    /** What answers while Redis can't; {@code local} unless set, {@code deny} for an {@code allotment}. */
    public abstract FailureMode getOnFailure();

    public abstract void setOnFailure(FailureMode onFailure);

    /** The longest that a decision waits for Redis; {@code limiter.redis.deadline} unless set. */
    public abstract Duration getDeadline();

    public abstract void setDeadline(Duration deadline);

    /** After how many denials a key is blocked, and for how long: {@code 20/10m for 15m up to 24h}; never unless set. */
    public abstract String getBlock();

    public abstract void setBlock(String block);
}
