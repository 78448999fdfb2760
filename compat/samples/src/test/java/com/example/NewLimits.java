package com.example;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import java.io.IOException;
import java.nio.file.Path;

public class NewLimits {
    private final Limiter limiter;

    public NewLimits(Limiter limiter) {
        this.limiter = limiter;
    }

    /** What callers have used stays used. */
    public void read(Path file) throws IOException {
        limiter.replace(LimiterConfig.load(file));
    }
}
