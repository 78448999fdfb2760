package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;

/** An operator sees a block and lifts it. */
class BlockedKeyTest {
    @Test
    void theEndpointShowsABlockAndLiftsIt() {
        try (ManagedSite site = ManagedSite.start(
                ManagedSite.StillSite.class,
                "limiter.policies.vote.limits=3/1h",
                "limiter.policies.login.limits=1/1m fixed",
                "limiter.policies.login.block=3/10m for 15m up to 24h",
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted")) {
            Limiter limiter = site.bean(Limiter.class);
            Policy login = limiter.policy("login");
            PartitionKey key = PartitionKey.of("192.0.2.1");
            for (int i = 0; i < 5; i++) {
                limiter.rateLimiter().tryAcquire(login, key, 1);
            }
            String shown = site.key("GET", "login", "192.0.2.1").body();
            assertTrue(shown.contains("3/10m block for 15m up to 1d name block"), shown);
            assertTrue(shown.contains("PT15M"), shown);
            assertTrue(shown.contains("\"allowed\":false"), shown);
            assertEquals(
                    2,
                    site.bean(MeterRegistry.class)
                            .get("limiter.blocked")
                            .tag("policy", "login")
                            .functionCounter()
                            .count());
            assertEquals(200, site.key("DELETE", "login", "192.0.2.1").statusCode());
            assertTrue(limiter.rateLimiter().tryAcquire(login, key, 1).allowed());
        }
    }
}
