package com.example;

import io.limiter.Decision;
import io.limiter.Denials.DeniedKey;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.util.List;

public class BusiestKeys {
    private final Limiter limiter;

    public BusiestKeys(Limiter limiter) {
        this.limiter = limiter;
    }

    /** The keys that this instance denied most in the last 10 to 20 minutes. */
    public List<DeniedKey> busiest() {
        return limiter.rateLimiter().denials().busiest(20);
    }

    /** What a client has left. Takes nothing. */
    public long left(String policy, String client) {
        Decision state = limiter.rateLimiter().peek(limiter.policy(policy), PartitionKey.of(client));
        return state.remaining();
    }
}
