package com.example;

import io.limiter.Hold;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.function.ToLongFunction;

public class ModelCalls {
    private final Limiter limiter;

    public ModelCalls(Limiter limiter) {
        this.limiter = limiter;
    }

    /**
     * Asks a language model. The tokens of the call are estimated before it and known after it.
     *
     * @param model asks, and returns the tokens that it used
     * @return whether the user had enough tokens left for the estimate
     */
    public boolean ask(String user, String prompt, ToLongFunction<String> model) {
        long estimate = Math.max(1, prompt.length() / 3);
        Hold hold = limiter.rateLimiter()
                .reserve(limiter.policy("tokens"), PartitionKey.of(user), estimate, Duration.ofMinutes(2));
        if (!hold.allowed()) {
            return false;
        }
        long used = 0;
        try {
            used = model.applyAsLong(prompt);
        } finally {
            // Gives back what was not used, and charges what was used above the estimate.
            limiter.rateLimiter().settle(hold, used);
        }
        return true;
    }
}
