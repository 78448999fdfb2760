package com.example;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.io.IOException;
import java.io.StringReader;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class VoteLimitTest {
    @Test
    void threeVotesInTenSeconds() throws IOException {
        ManualTime time = new ManualTime();
        LimiterConfig config = LimiterConfig.builder()
                .text("test", new StringReader("limiter.policies.vote.limits = 3/10s"))
                .build();
        RateLimiter rateLimiter =
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        try (Limiter limiter = Limiter.of(config, rateLimiter)) {
            PartitionKey client = PartitionKey.of("192.0.2.1");
            for (int i = 0; i < 3; i++) {
                assertTrue(limiter.tryAcquire("vote", client, 1).allowed());
            }
            assertFalse(limiter.tryAcquire("vote", client, 1).allowed());
            time.advance(Duration.ofSeconds(10));
            assertTrue(limiter.tryAcquire("vote", client, 1).allowed());
        }
    }
}
