package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.door.Client.Response;
import io.limiter.webflux.GatewayRateLimiter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** The examples of Gateway's documentation of RequestRateLimiter, with the limiter's bean. */
class RequestRateLimiterTest {
    private static final String FILTER = "routes[0].filters[0]";
    private static final String OURS = FILTER + ".args.rate-limiter=#{@limiterRateLimiter}";
    private static final String NAME = FILTER + ".name=RequestRateLimiter";

    @Test
    void theArgumentsOfGatewaysLimiterMakeABucket() {
        try (Site site = Site.of(Site.route(
                "requestratelimiter_route",
                NAME,
                OURS,
                FILTER + ".args.redis-rate-limiter.replenishRate=1",
                FILTER + ".args.redis-rate-limiter.burstCapacity=20",
                FILTER + ".args.redis-rate-limiter.requestedTokens=10"))) {
            Response first = site.get("/requestratelimiter_route/1?user=ann");
            assertEquals(200, first.status());
            assertTrue(
                    first.fields().get("ratelimit-policy").contains("\"requestratelimiter_route\";q=20"),
                    first::toString);
            assertTrue(first.fields().get("ratelimit").contains("\"requestratelimiter_route\";r=10"), first::toString);
            assertEquals(200, site.status("/requestratelimiter_route/1?user=ann"));
            Response denied = site.get("/requestratelimiter_route/1?user=ann");
            assertEquals(429, denied.status());
            assertEquals("no-store", denied.fields().get("cache-control"));
            int wait = Integer.parseInt(denied.fields().get("retry-after"));
            assertTrue(wait > 5 && wait <= 10, denied::toString);
            assertEquals(200, site.status("/requestratelimiter_route/1?user=bob"));
            assertEquals(403, site.status("/requestratelimiter_route/1"), "no key, as Gateway does");
        }
    }

    @Test
    void severalLimitsOfAPolicyThatIsNamedLikeTheRouteOrNamedByIt() {
        try (Site site = Site.of(Site.route(
                "a",
                NAME,
                OURS,
                FILTER + ".args.key-resolver=#{@userKeyResolver}",
                "routes[1].id=b",
                "routes[1].uri=SERVICE",
                "routes[1].predicates[0]=Path=/b/**",
                "routes[1].filters[0].name=RequestRateLimiter",
                "routes[1].filters[0].args.rate-limiter=#{@limiterRateLimiter}",
                "routes[1].filters[0].args.limiter.policy=a",
                "routes[1].filters[0].args.status-code=PAYLOAD_TOO_LARGE",
                "limiter.policies.a.limits=2/1h fixed name hourly, 100/1d fixed name daily"))) {
            Response first = site.get("/a/1?user=ann");
            assertEquals(200, first.status());
            assertTrue(first.fields().get("ratelimit").contains("\"hourly\";r=1"), first::toString);
            assertTrue(first.fields().get("ratelimit").contains("\"daily\";r=99"), first::toString);
            assertEquals(200, site.status("/b/1?user=ann"), "two routes of one policy share its quota");
            assertEquals(429, site.status("/a/1?user=ann"));
            assertEquals(413, site.status("/b/1?user=ann"), "the route says with which status");
        }
    }

    @Test
    void withoutAnotherLimiterItIsTheDefault() {
        try (Site site = Site.of(Site.route("a", NAME, FILTER + ".args.redis-rate-limiter.replenishRate=1"))) {
            assertEquals(200, site.status("/a/1?user=ann"));
            assertEquals(429, site.status("/a/1?user=ann"));
        }
    }

    /** With a limiter of the application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithOther extends Site.Gateway {
        @Bean
        RateLimiter<Object> myRateLimiter() {
            return new RateLimiter<>() {
                @Override
                public Mono<Response> isAllowed(String routeId, String id) {
                    return Mono.just(new Response(false, Map.of("Other", "1")));
                }

                @Override
                public Map<String, Object> getConfig() {
                    return Map.of();
                }

                @Override
                public Class<Object> getConfigClass() {
                    return Object.class;
                }

                @Override
                public Object newConfig() {
                    return new Object();
                }
            };
        }
    }

    @Test
    void anotherLimiterStaysTheDefault() {
        try (Site site = new Site(
                WithOther.class,
                Site.service(Mono.empty()),
                Site.route(
                        "a",
                        NAME,
                        FILTER + ".args.redis-rate-limiter.replenishRate=0",
                        "routes[1].id=b",
                        "routes[1].uri=SERVICE",
                        "routes[1].predicates[0]=Path=/b/**",
                        "routes[1].filters[0].name=RequestRateLimiter",
                        "routes[1].filters[0].args.rate-limiter=#{@limiterRateLimiter}",
                        "limiter.policies.b.limits=1/1h"))) {
            Response other = site.get("/a/1?user=ann");
            assertEquals(429, other.status());
            assertEquals("1", other.fields().get("other"));
            assertEquals(200, site.status("/b/1?user=ann"));
        }
    }

    /** Routes in code, as in the documentation. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class InCode {
        @Bean
        KeyResolver all() {
            return exchange -> Mono.just("all");
        }

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
                                                            .setBurstCapacity(1))
                                            .and())
                                    .uri("no://op"))
                    .route(
                            "by-policy",
                            route -> route.path("/policy/**")
                                    .filters(filters ->
                                            filters.requestRateLimiter(config -> config.setRateLimiter(limiter)))
                                    .uri("no://op"))
                    .build();
        }
    }

    @Test
    void routesInCode() {
        try (Site site =
                new Site(InCode.class, Site.service(Mono.empty()), "limiter.policies.by-policy.limits=1/1h fixed")) {
            for (String path : new String[] {"/anything/1", "/policy/1"}) {
                assertFalse(site.status(path) == 429, path);
                assertEquals(429, site.status(path), path);
            }
        }
    }

    @Test
    void whatItCanNotDoFailsStartup() {
        RouteFilterTest.fails("RL-107", NAME, OURS, FILTER + ".args.limiter.policy=apo");
        RouteFilterTest.fails("RL-107", NAME, OURS);
        RouteFilterTest.fails("RL-196", NAME, OURS, "limiter.policies.a.limits=1 concurrent");
        RouteFilterTest.fails("RL-196", NAME, OURS, "limiter.policies.a.limits=1/1h distinct");
    }

    @Test
    void theFailureModeDeniesWith503() {
        try (Site site = Site.of(Site.route(
                "a",
                NAME,
                OURS,
                "limiter.redis.address=redis://127.0.0.1:1",
                "limiter.redis.startup-wait=0s",
                "limiter.policies.a.limits=1/1h",
                "limiter.policies.a.on-failure=deny"))) {
            assertEquals(503, site.status("/a/1?user=ann"));
        }
    }
}
