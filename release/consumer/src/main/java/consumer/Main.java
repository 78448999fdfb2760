package consumer;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.RateLimited;

/** Three votes in ten seconds, and no more. */
public final class Main {
    public static void main(String[] arguments) {
        LimiterConfig config = LimiterConfig.builder()
                .property("Main", 1, "limiter.policies.vote.limits", "3/10s")
                .build();
        int allowed = 0;
        try (Limiter limiter = Limiter.start(config)) {
            for (int i = 0; i < 5; i++) {
                boolean voted = limiter.rateLimiter()
                        .tryAcquire(limiter.policy("vote"), PartitionKey.of("ann"), 1)
                        .allowed();
                allowed += voted ? 1 : 0;
            }
        }
        System.out.println(allowed == 3 ? "OK" : "allowed " + allowed);
    }

    @RateLimited("vote")
    public void vote() {}
}
