package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import io.limiter.webflux.gateway.LimiterGatewayFilterFactory;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.handler.predicate.PredicateDefinition;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionWriter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The filters before the routes, and the filter {@code Limiter} of a route. */
class RouteFilterTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Sinks.Empty<Void> SLOW = Sinks.empty();
    private static Site site;

    /** With a route in code. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway extends Site.Gateway {
        @Bean
        RouteLocator routes(RouteLocatorBuilder routes, LimiterGatewayFilterFactory limited) {
            return routes.routes()
                    .route(
                            "code",
                            route -> route.path("/code/**")
                                    .filters(filters ->
                                            filters.filter(limited.apply(rule -> rule.put("policy", "once"))))
                                    .uri("http://127.0.0.1:1"))
                    .build();
        }
    }

    @BeforeAll
    static void start() {
        site = new Site(
                Gateway.class,
                Site.service(SLOW.asMono()),
                Site.routes(
                        List.of(
                                "id=a",
                                "filters[0]=StripPrefix=1",
                                "filters[1]=Limiter=api",
                                "filters[2]=Limiter=user, header:X-Key"),
                        List.of("id=b"),
                        List.of("id=twice", "filters[0]=Limiter=twice", "filters[1]=Limiter=twice, ip"),
                        List.of(
                                "id=outcomes",
                                "filters[0].name=Limiter",
                                "filters[0].args.policy=outcomes",
                                "filters[0].args.cost=2",
                                "filters[0].args.refund-on=404",
                                "filters[0].args.exempt.addresses=192.0.2.0/24"),
                        List.of("id=open", "filters[0]=Limiter=open"),
                        List.of(
                                "id=waits",
                                "filters[0].name=Limiter",
                                "filters[0].args.policy=waits",
                                "filters[0].args.wait=60s"),
                        List.of(
                                "id=waits-too",
                                "filters[0].name=Limiter",
                                "filters[0].args.policy=waits-too",
                                "filters[0].args.wait=60s"),
                        List.of(
                                "limiter.policies.api.limits=4/1h fixed",
                                "limiter.policies.user.limits=2/1h fixed",
                                "limiter.policies.once.limits=1/1h fixed",
                                "limiter.policies.twice.limits=2/1h fixed",
                                "limiter.policies.outcomes.limits=4/1h fixed",
                                "limiter.policies.open.limits=1 concurrent",
                                "limiter.policies.waits.limits=2/1m token-bucket burst 1",
                                "limiter.policies.waits-too.limits=2/1m token-bucket burst 1",
                                "limiter.wait.max-waiting=10",
                                "limiter.rules.twice.path=/twice/*",
                                "limiter.rules.twice.policy=twice",
                                "limiter.rules.all.path=/a/*, /b/*",
                                "limiter.rules.all.limits=7/1h fixed")));
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    @Test
    void rulesAndRoutesLimitTogether() {
        Response first = site.get("/a/1", "X-Key: one");
        assertEquals(200, first.status());
        assertTrue(first.body().contains("/1"), first::toString);
        String fields = first.fields().get("ratelimit");
        for (String one : List.of("\"all\";r=6", "\"api\";r=3", "\"user\";r=1")) {
            assertTrue(fields.contains(one), "one field: " + first);
        }
        assertEquals(200, site.status("/a/1", "X-Key: one"));
        Response denied = site.get("/a/1", "X-Key: one");
        assertEquals(429, denied.status());
        assertEquals("application/problem+json", denied.fields().get("content-type"));
        assertTrue(denied.body().contains("\"violated-policies\":[\"user\"]"), denied::toString);
        refresh();
        assertEquals(200, site.status("/a/1", "X-Key: two"));
        assertEquals(429, site.status("/a/1", "X-Key: one"), "refreshed routes keep what they counted");
        assertEquals(200, site.status("/b/1"));
        assertEquals(200, site.status("/b/1"));
        assertEquals(429, site.status("/b/1"), "by the rule");
    }

    @Test
    void oneRequestIsChargedOnceForOnePolicyAndKey() {
        assertEquals(200, site.status("/twice/1"));
        assertEquals(200, site.status("/twice/1"));
        assertEquals(429, site.status("/twice/1"));
    }

    @Test
    void outcomesAndAllPropertiesOfARule() {
        for (int i = 0; i < 5; i++) {
            assertEquals(404, site.status("/outcomes/missing"));
        }
        assertEquals(200, site.status("/outcomes/1"));
        assertEquals(200, site.status("/outcomes/1"));
        assertEquals(429, site.status("/outcomes/1"));
    }

    @Test
    void permitsInFlightEndWithTheBody() {
        Client streaming = Client.send(site.port(), "GET", "/open/slow");
        Limiter limiter = site.context.getBean(Limiter.class);
        PermitRequest look = PermitRequest.of(limiter.policy("open"), PartitionKey.of("127.0.0.1"), 1)
                .withLook();
        Await.until(
                LONG,
                "the stream is open",
                () -> !limiter.rateLimiter().tryAcquire(look).allowed());
        assertEquals(429, site.status("/open/1"));
        SLOW.tryEmitEmpty();
        assertTrue(streaming.response().body().contains("end"));
        Await.until(
                LONG,
                "the stream has ended",
                () -> limiter.rateLimiter().tryAcquire(look).allowed());
        assertEquals(200, site.status("/open/1"));
    }

    @Test
    void allRoutesHoldRequestsInTheSamePlacesAndLeaveThemAtOnce() {
        assertEquals(200, site.status("/waits/1"));
        assertEquals(200, site.status("/waits-too/1"));
        Limiter limiter = site.context.getBean(Limiter.class);
        Client waits = Client.send(site.port(), "GET", "/waits/1");
        Await.until(LONG, "it waits", () -> limiter.rateLimiter().monitor().waiting() == 1);
        assertEquals(429, site.status("/waits-too/1"), "its client has one of the ten places");
        SmartLifecycle held = site.context.getBean("io.limiter.spring.heldRequests", SmartLifecycle.class);
        held.stop();
        assertEquals(503, waits.response().status());
        assertEquals(429, site.status("/waits/1"), "nobody is held any more");
        held.start();
    }

    /** As long as it is known, a configuration without its policy is refused. */
    @Test
    void aRouteThatIsRemovedIsForgotten() {
        Limiter limiter = site.context.getBean(Limiter.class);
        LimiterConfig before = limiter.config();
        limiter.replace(before.with("test", Map.of("limiter.policies.gone.limits", "2/1h fixed")));
        RouteDefinitionWriter routes = site.context.getBean(RouteDefinitionWriter.class);
        for (String filter : List.of("Limiter=gone", "RequestRateLimiter=")) {
            RouteDefinition route = new RouteDefinition();
            route.setId("gone");
            route.setUri(URI.create("http://127.0.0.1:" + site.service.port()));
            route.setPredicates(List.of(new PredicateDefinition("Path=/gone/**")));
            FilterDefinition limits = new FilterDefinition(filter);
            if (filter.startsWith("Request")) {
                limits.setArgs(Map.of("rate-limiter", "#{@limiterRateLimiter}", "limiter.policy", "gone"));
            }
            route.setFilters(List.of(limits));
            routes.save(Mono.just(route)).block();
            refresh();
            assertEquals(200, site.status("/gone/1?user=ann"));
            assertThrows(IllegalArgumentException.class, () -> limiter.replace(before), filter);
            if (filter.startsWith("Request")) {
                limits.setArgs(Map.of("rate-limiter", "#{@limiterRateLimiter}", "limiter.policy", "apo"));
                routes.save(Mono.just(route)).block();
                refresh();
                assertEquals(200, site.status("/gone/1?user=ann"), "a route with a mistake keeps what it had");
                assertEquals(429, site.status("/gone/1?user=ann"));
            }
            routes.delete(Mono.just("gone")).block();
            refresh();
            assertEquals(404, site.status("/gone/1?user=ann"));
            // Until then a request may be on its way through the route.
            refresh();
            limiter.replace(before);
            limiter.replace(before.with("test", Map.of("limiter.policies.gone.limits", "2/1h fixed")));
        }
        limiter.replace(before);
    }

    private static void refresh() {
        site.context.publishEvent(new RefreshRoutesEvent(site));
    }

    @Test
    void aRouteInCode() {
        assertEquals(500, site.status("/code/1"), "there is no service");
        assertEquals(429, site.status("/code/1"), "an error of the service stays charged");
    }

    @Test
    void mistakesHaveTheMessagesOfRules() {
        LimiterGatewayFilterFactory factory = site.context.getBean(LimiterGatewayFilterFactory.class);
        Map.of("RL-101", "polcy", "RL-105", "key", "RL-107", "policy").forEach((code, property) -> {
            RuntimeException wrong =
                    assertThrows(RuntimeException.class, () -> factory.apply(rule -> rule.put(property, "ip")));
            assertTrue(String.valueOf(wrong.getMessage()).contains(code), wrong::toString);
        });
    }

    @Test
    void aMistakeNamesItsRouteAndItsCauseFirst() {
        LimiterGatewayFilterFactory factory = site.context.getBean(LimiterGatewayFilterFactory.class);
        LimiterGatewayFilterFactory.Rule rule = new LimiterGatewayFilterFactory.Rule();
        rule.put("polcy", "api");
        rule.setRouteId("orders");
        String text = String.valueOf(assertThrows(IllegalArgumentException.class, () -> factory.apply(rule))
                .getMessage());
        assertTrue(text.startsWith("route 'orders', filter Limiter: "), text);
        assertTrue(text.contains("did you mean 'args.policy'?"), text);
        assertTrue(text.contains("the filter has no limit; add args.policy or args.limits"), text);
        assertTrue(text.indexOf("RL-101") < text.indexOf("RL-105"), text);
        assertFalse(text.contains("gateway-"), text);
    }
}
