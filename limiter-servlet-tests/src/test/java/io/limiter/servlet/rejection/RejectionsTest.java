package io.limiter.servlet.rejection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.servlet.FakeExchange;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RejectionsTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    private final RateLimiter limiter = RateLimiters.on(Backends.inProcess(new ManualTime()));

    @Test
    void soIsOneThatIsNotConfiguredAlsoBesideAnother() throws IOException {
        LimiterConfig config = Configs.of("limiter.policies.vote.limits = 9/10s fixed name daily\n");
        Policy own = Policy.of("own", Limit.fixedWindow(0, Duration.ofDays(1)).withName("daily"));
        Rejections rejections = Rejections.of(config);
        for (int i = 0; i < 2; i++) {
            FakeExchange exchange = new FakeExchange();
            rejections.write(denial(config.policies().get("vote"), own), exchange.request(), exchange.response());
            assertEquals(
                    List.of("\"vote/daily\";q=9;w=10, \"own/daily\";q=0;w=86400"), exchange.all("RateLimit-Policy"));
            assertTrue(exchange.body().contains("\"violated-policies\":[\"own/daily\"]"), exchange.body());
        }
    }

    @Test
    void thereIsNothingToRefuseWhereTheDecisionAllows() throws IOException {
        LimiterConfig config = Configs.of("limiter.policies.vote.limits = 9/10s\n");
        FakeExchange exchange = new FakeExchange();
        Decision allowed = denial(config.policies().get("vote"));
        assertTrue(assertThrows(
                        IllegalArgumentException.class,
                        () -> Rejections.of(config).write(allowed, exchange.request(), exchange.response()))
                .getMessage()
                .startsWith("the decision allows the request"));
    }

    private Decision denial(Policy... policies) {
        return limiter.tryAcquire(PermitRequest.of(List.of(policies).stream()
                .map(policy -> new Charge(policy, KEY, 1))
                .toList()));
    }
}
