package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.door.Client.Response;
import io.limiter.webflux.gateway.GatewayRateLimiter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** The examples of Gateway's documentation of RequestRateLimiter, with the limiter's bean. */
class RequestRateLimiterTest {
    private static final String NAME = "filters[0].name=RequestRateLimiter";
    private static final String OURS = "filters[0].args.rate-limiter=#{@limiterRateLimiter}";
    private static final String ARGS = "filters[0].args.";
    private static Site site;

    /** With routes in code, as in the documentation. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway extends Site.Gateway {
        @Bean
        RouteLocator routes(RouteLocatorBuilder routes, GatewayRateLimiter limiter) {
            return routes.routes()
                    .route(
                            "limit_route",
                            route -> route.path("/anything/**")
                                    .filters(filters -> filters.requestRateLimiter()
                                            .rateLimiter(
                                                    GatewayRateLimiter.class,
                                                    config -> config.setReplenishRate(1)
                                                            .setBurstCapacity(60)
                                                            .setRequestedTokens(60))
                                            .and())
                                    .uri("http://127.0.0.1:1"))
                    .route(
                            "by-policy",
                            route -> route.path("/by-policy/**")
                                    .filters(filters ->
                                            filters.requestRateLimiter(config -> config.setRateLimiter(limiter)))
                                    .uri("http://127.0.0.1:1"))
                    .build();
        }
    }

    @BeforeAll
    static void start() {
        site = new Site(
                Gateway.class,
                Site.service(Mono.empty()),
                Site.routes(
                        List.of(
                                "id=requestratelimiter_route",
                                NAME,
                                OURS,
                                ARGS + "redis-rate-limiter.replenishRate=1",
                                ARGS + "redis-rate-limiter.burstCapacity=20",
                                ARGS + "redis-rate-limiter.requestedTokens=10"),
                        List.of("id=a", NAME, OURS, ARGS + "key-resolver=#{@userKeyResolver}"),
                        List.of("id=b", NAME, OURS, ARGS + "limiter.policy=a", ARGS + "status-code=PAYLOAD_TOO_LARGE"),
                        List.of(
                                "id=none",
                                NAME,
                                OURS,
                                ARGS + "redis-rate-limiter.replenishRate=1",
                                ARGS + "redis-rate-limiter.burstCapacity=0"),
                        List.of(
                                "id=default",
                                NAME,
                                ARGS + "redis-rate-limiter.replenishRate=1",
                                ARGS + "redis-rate-limiter.burstCapacity=60",
                                ARGS + "redis-rate-limiter.requestedTokens=60"),
                        List.of(
                                "limiter.policies.a.limits=2/1h fixed name hourly, 100/1d fixed name daily",
                                "limiter.policies.by-policy.limits=1/1h fixed",
                                "limiter.policies.open.limits=1 concurrent",
                                "limiter.policies.members.limits=1/1h distinct")));
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    @Test
    void theArgumentsOfGatewaysLimiterMakeABucket() {
        String target = "/requestratelimiter_route/1";
        Response first = site.get(target + "?user=ann");
        assertEquals(200, first.status());
        assertTrue(
                first.fields().get("ratelimit-policy").contains("\"requestratelimiter_route\";q=20"), first::toString);
        assertTrue(first.fields().get("ratelimit").contains("\"requestratelimiter_route\";r=10"), first::toString);
        assertEquals(200, site.status(target + "?user=ann"));
        Response denied = site.get(target + "?user=ann");
        assertEquals(429, denied.status());
        assertEquals("no-store", denied.fields().get("cache-control"));
        int wait = Integer.parseInt(denied.fields().get("retry-after"));
        assertTrue(wait > 1 && wait <= 10, denied::toString);
        assertEquals(200, site.status(target + "?user=bob"));
        assertEquals(403, site.status(target), "no key, as Gateway does");
    }

    @Test
    void aBurstOfNoneDeniesEverybody() {
        assertEquals(429, site.status("/none/1?user=ann"));
    }

    @Test
    void severalLimitsOfAPolicyThatIsNamedLikeTheRouteOrNamedByIt() {
        Response first = site.get("/a/1?user=ann");
        assertEquals(200, first.status());
        assertTrue(first.fields().get("ratelimit").contains("\"hourly\";r=1"), first::toString);
        assertTrue(first.fields().get("ratelimit").contains("\"daily\";r=99"), first::toString);
        assertEquals(200, site.status("/b/1?user=ann"), "two routes of one policy share its quota");
        assertEquals(429, site.status("/a/1?user=ann"));
        assertEquals(413, site.status("/b/1?user=ann"), "the route says with which status");
    }

    @Test
    void withoutAnotherLimiterItIsTheDefault() {
        assertEquals(200, site.status("/default/1?user=ann"));
        assertEquals(429, site.status("/default/1?user=ann"));
    }

    @Test
    void routesInCode() {
        for (String path : List.of("/anything/1?user=ann", "/by-policy/1?user=ann")) {
            assertNotEquals(429, site.status(path), path);
            assertEquals(429, site.status(path), path);
        }
    }

    @Test
    void whatItCanNotDoIsRefused() {
        GatewayRateLimiter limiter = site.context.getBean(GatewayRateLimiter.class);
        Map.of("apo", "RL-107", "open", "RL-196", "members", "RL-196").forEach((policy, code) -> {
            limiter.getConfig().put("of " + policy, new GatewayRateLimiter.Config().setPolicy(policy));
            RuntimeException wrong = assertThrows(
                    RuntimeException.class,
                    () -> limiter.isAllowed("of " + policy, "ann").block());
            assertTrue(String.valueOf(wrong.getMessage()).contains(code), wrong::toString);
        });
    }
}
