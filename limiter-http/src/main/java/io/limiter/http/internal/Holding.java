package io.limiter.http.internal;

/** What holds requests until they are admitted. */
public interface Holding {
    /** Holds requests, as at first. */
    void startHolding();

    /** Denies those that are held, and holds none. */
    void stopHolding();
}
