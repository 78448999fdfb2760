package com.example;

import io.limiter.Decision;
import io.limiter.LimiterMonitor.DeniedKey;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import java.util.List;

public class BusiestKeys {
    private final Limiter limiter;

    public BusiestKeys(Limiter limiter) {
        this.limiter = limiter;
    }

    /** The keys that this instance denied most in the last ten minutes. */
    public List<DeniedKey> busiest() {
        return limiter.rateLimiter().monitor().busiest(20);
    }

    /** What a client has left. Takes nothing. */
    public long left(String policy, String client) {
        Decision state = limiter.rateLimiter()
                .tryAcquire(PermitRequest.of(limiter.policy(policy), PartitionKey.of(client), 0)
                        .withLook());
        return state.remaining();
    }
}
