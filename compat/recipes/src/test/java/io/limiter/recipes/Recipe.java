package io.limiter.recipes;

import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Pages;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;

/** A page of docs/recipes: its configuration runs. */
final class Recipe {
    private Recipe() {}

    /** The configuration of a page. */
    static LimiterConfig config(String page, String more) throws IOException {
        String text = String.join("", Pages.blocks(Pages.text("recipes/" + page), "properties"));
        return LimiterConfig.builder().text(page, new StringReader(text + more)).build();
    }

    /** A limiter with it, with the clock of the test. */
    static Limiter limiter(String page, TimeSource time) throws IOException {
        return Limiter.of(
                config(page, ""),
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build()));
    }

    /** What is left of the limits of a policy, for the canonical text of a key. */
    static List<Long> left(Limiter limiter, String policy, String key) {
        PermitRequest look = PermitRequest.of(limiter.policy(policy), PartitionKey.parse(key), 0)
                .withLook()
                .withEnd();
        return limiter.rateLimiter().tryAcquire(look).outcomes().stream()
                .map(LimitOutcome::remaining)
                .toList();
    }
}
