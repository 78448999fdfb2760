package com.example;

import io.limiter.spring.RateLimited;

public class MovedFromResilience4j {
    // @RateLimiter(name = "vote", fallbackMethod = "later")
    @RateLimited(value = "vote", key = "global", fallback = "later")
    public String vote() {
        return "thank you";
    }

    private String later() {
        return "later";
    }
}
