package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;

public class Exports {
    private final Limiter limiter;

    public Exports(Limiter limiter) {
        this.limiter = limiter;
    }

    /** One permit for each 1000 rows that are begun. */
    public boolean export(String user, long rows) {
        Decision decision = limiter.tryAcquire("export", PartitionKey.of(user), 1 + rows / 1000);
        return decision.allowed();
    }
}
