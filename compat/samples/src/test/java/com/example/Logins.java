package com.example;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import java.util.List;
import java.util.function.BooleanSupplier;

public class Logins {
    private final Limiter limiter;

    public Logins(Limiter limiter) {
        this.limiter = limiter;
    }

    /** Counts failed attempts only, by address and by account. */
    public boolean logIn(String address, String account, BooleanSupplier passwordIsRight) {
        Decision decision = limiter.rateLimiter()
                .tryAcquire(PermitRequest.of(List.of(
                        new Charge(limiter.policy("login-address"), PartitionKey.of(address), 1),
                        new Charge(limiter.policy("login-account"), PartitionKey.of(account), 1))));
        if (!decision.allowed()) {
            return false;
        }
        boolean right = passwordIsRight.getAsBoolean();
        if (right) {
            limiter.rateLimiter().refund(decision);
        }
        return right;
    }
}
