package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import io.limiter.webflux.LimiterGatewayFilterFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The filters before the routes, and the filter {@code Limiter} of a route. */
class RouteFilterTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void rulesAndRoutesLimitTogether() {
        try (Site site = Site.of(Site.route(
                "a",
                "routes[0].filters[0]=StripPrefix=1",
                "routes[0].filters[1]=Limiter=api",
                "routes[0].filters[2]=Limiter=user, header:X-Key",
                "routes[1].id=b",
                "routes[1].uri=SERVICE",
                "routes[1].predicates[0]=Path=/b/**",
                "limiter.policies.api.limits=4/1h fixed",
                "limiter.policies.user.limits=2/1h fixed",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=7/1h fixed"))) {
            Response first = site.get("/a/1", "X-Key: one");
            assertEquals(200, first.status());
            assertTrue(first.body().contains("/1"), first::toString);
            String fields = first.fields().get("ratelimit");
            for (String one : new String[] {"\"all\";r=6", "\"api\";r=3", "\"user\";r=1"}) {
                assertTrue(fields.contains(one), "one field: " + first);
            }
            assertEquals(200, site.status("/a/1", "X-Key: one"));
            Response denied = site.get("/a/1", "X-Key: one");
            assertEquals(429, denied.status());
            assertEquals("application/problem+json", denied.fields().get("content-type"));
            assertTrue(denied.body().contains("\"violated-policies\":[\"user\"]"), denied::toString);
            site.context.publishEvent(new RefreshRoutesEvent(this));
            assertEquals(200, site.status("/a/1", "X-Key: two"));
            assertEquals(429, site.status("/a/1", "X-Key: one"), "refreshed routes keep what they counted");
            assertEquals(200, site.status("/b/1"));
            assertEquals(200, site.status("/b/1"));
            assertEquals(429, site.status("/b/1"), "by the rule");
        }
    }

    @Test
    void oneRequestIsChargedOnceForOnePolicyAndKey() {
        try (Site site = Site.of(Site.route(
                "a",
                "routes[0].filters[0]=Limiter=api",
                "default-filters[0]=Limiter=api",
                "limiter.policies.api.limits=2/1h fixed",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.policy=api"))) {
            assertEquals(200, site.status("/a/1"));
            assertEquals(200, site.status("/a/1"));
            assertEquals(429, site.status("/a/1"));
        }
    }

    @Test
    void outcomesAndAllPropertiesOfARule() {
        try (Site site = Site.of(Site.route(
                "a",
                "routes[0].filters[0].name=Limiter",
                "routes[0].filters[0].args.policy=api",
                "routes[0].filters[0].args.cost=2",
                "routes[0].filters[0].args.refund-on=404",
                "routes[0].filters[0].args.exempt.addresses=192.0.2.0/24",
                "limiter.policies.api.limits=4/1h fixed"))) {
            for (int i = 0; i < 5; i++) {
                assertEquals(404, site.status("/a/missing"));
            }
            assertEquals(200, site.status("/a/1"));
            assertEquals(200, site.status("/a/1"));
            assertEquals(429, site.status("/a/1"));
        }
    }

    @Test
    void permitsInFlightEndWithTheBody() {
        Sinks.Empty<Void> end = Sinks.empty();
        try (Site site = new Site(
                Site.Gateway.class,
                Site.service(end.asMono()),
                Site.route("a", "routes[0].filters[0]=Limiter=open", "limiter.policies.open.limits=1 concurrent"))) {
            Client streaming = Client.send(site.port(), "GET", "/a/slow");
            Limiter limiter = site.context.getBean(Limiter.class);
            PermitRequest look = PermitRequest.of(limiter.policy("open"), PartitionKey.of("127.0.0.1"), 1)
                    .withLook();
            Await.until(
                    LONG,
                    "the stream is open",
                    () -> !limiter.rateLimiter().tryAcquire(look).allowed());
            assertEquals(429, site.status("/a/1"));
            end.tryEmitEmpty();
            assertTrue(streaming.response().body().contains("end"));
            Await.until(
                    LONG,
                    "the stream has ended",
                    () -> limiter.rateLimiter().tryAcquire(look).allowed());
            assertEquals(200, site.status("/a/1"));
        }
    }

    /** Routes in code. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class InCode {
        @Bean
        RouteLocator routes(RouteLocatorBuilder routes, LimiterGatewayFilterFactory limited) {
            return routes.routes()
                    .route(
                            "code",
                            route -> route.path("/code/**")
                                    .filters(filters -> filters.filter(limited.apply(rule -> rule.put("policy", "api")))
                                            .setStatus(200))
                                    .uri("http://127.0.0.1:1"))
                    .build();
        }
    }

    @Test
    void routesInCode() {
        try (Site site = new Site(InCode.class, Site.service(Mono.empty()), "limiter.policies.api.limits=1/1h fixed")) {
            assertEquals(500, site.status("/code/1"), "there is no service");
            assertEquals(429, site.status("/code/1"), "an error of the service stays charged");
        }
    }

    @Test
    void mistakesFailStartup() {
        fails("RL-107", "routes[0].filters[0]=Limiter=apo", "limiter.policies.api.limits=1/1h");
        fails("RL-101", "routes[0].filters[0].name=Limiter", "routes[0].filters[0].args.polcy=api");
        fails("RL-105", "routes[0].filters[0]=Limiter");
        fails(
                "RL-107",
                "spring.cloud.gateway.server.webflux.fail-on-route-definition-error=false",
                "default-filters[0]=Limiter=apo");
    }

    static void fails(String code, String... properties) {
        RuntimeException failure = assertThrows(
                RuntimeException.class,
                () -> Site.of(Site.route("a", properties)).close());
        StringBuilder all = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            all.append(cause.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains(code), all::toString);
    }

    @Test
    void aConfigurationWithoutThePolicyOfARouteIsRefused() {
        try (Site site = Site.of(
                Site.route("a", "routes[0].filters[0]=Limiter=api", "limiter.policies.api.limits=1/1h fixed"))) {
            Limiter limiter = site.context.getBean(Limiter.class);
            assertEquals(200, site.status("/a/1"));
            limiter.replace(
                    limiter.config().with("test", java.util.Map.of("limiter.policies.api.limits", "3/1h fixed")));
            assertEquals(200, site.status("/a/1"));
            assertEquals(200, site.status("/a/1"));
            assertEquals(429, site.status("/a/1"));
        }
    }

    @Test
    void switchedOffEverythingIsForwarded() {
        try (Site site = Site.of(Site.route(
                "a",
                "routes[0].filters[0]=Limiter=api",
                "limiter.enabled=false",
                "limiter.policies.api.limits=0/1h fixed"))) {
            Response open = site.get("/a/1");
            assertEquals(200, open.status());
            assertFalse(open.fields().containsKey("ratelimit"));
        }
    }
}
