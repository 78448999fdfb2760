package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.door.Client.Response;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Gateways with mistakes, or with other beans. Each ends the event loops of its JVM, so none may be beside another. */
class GatewayStartTest {
    private static final String NAME = "filters[0].name=RequestRateLimiter";
    private static final String OURS = "filters[0].args.rate-limiter=#{@limiterRateLimiter}";

    @Test
    void mistakesFailStartup() {
        fails(
                "RL-107",
                List.of("id=a"),
                List.of(
                        "spring.cloud.gateway.server.webflux.fail-on-route-definition-error=false",
                        "default-filters[0]=Limiter=apo"));
        fails("RL-196", List.of("id=a", NAME, OURS), List.of("limiter.policies.a.limits=1 concurrent"));
        fails(
                "RL-196",
                List.of("id=a", NAME, OURS, "filters[0].args.limiter.requested-tokens=0"),
                List.of("limiter.policies.a.limits=1/1h"));
    }

    @SafeVarargs
    private static void fails(String code, List<String>... routes) {
        RuntimeException failure = assertThrows(
                RuntimeException.class,
                () -> new Site(Site.Gateway.class, Site.service(Mono.empty()), Site.routes(routes)).close());
        StringBuilder all = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            all.append(cause.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains(code), all::toString);
    }

    /** Routes are made later than the rules and the annotations are known. */
    @Test
    void aPolicyThatARouteHasIsUsed() {
        PrintStream before = System.out;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setOut(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            new Site(
                            Site.Gateway.class,
                            Site.service(Mono.empty()),
                            Site.routes(
                                    List.of("id=a", "filters[0]=Limiter=api"),
                                    List.of("id=b", NAME, OURS),
                                    List.of(
                                            "limiter.policies.api.limits=1/1h",
                                            "limiter.policies.b.limits=1/1h",
                                            "limiter.policies.idle.limits=1/1h")))
                    .close();
        } finally {
            System.setOut(before);
        }
        String warning = log.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("RL-140"))
                .collect(Collectors.joining());
        assertTrue(warning.contains("has the policies [idle]"), log::toString);
    }

    @Test
    void switchedOffEverythingIsForwarded() {
        try (Site off = new Site(
                Site.Gateway.class,
                Site.service(Mono.empty()),
                Site.routes(
                        List.of("id=a", "filters[0]=Limiter=api"),
                        List.of(
                                "id=api",
                                "filters[0].name=RequestRateLimiter",
                                "filters[0].args.rate-limiter=#{@limiterRateLimiter}"),
                        List.of("limiter.enabled=false", "limiter.policies.api.limits=0/1h fixed")))) {
            for (String path : List.of("/a/1", "/api/1?user=ann")) {
                Response open = off.get(path);
                assertEquals(200, open.status());
                assertFalse(open.fields().containsKey("ratelimit"), open::toString);
            }
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
                    return Mono.just(new Response(routeId.equals("both"), Map.of("Other", "1")));
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
        try (Site other = new Site(
                WithOther.class,
                Site.service(Mono.empty()),
                Site.routes(
                        List.of("id=a", NAME, "filters[0].args.redis-rate-limiter.replenishRate=0"),
                        List.of("id=b", NAME, OURS),
                        List.of(
                                "id=both",
                                NAME,
                                OURS,
                                "filters[0].args.limiter.policy=b",
                                "filters[1].name=RequestRateLimiter",
                                "filters[1].args.redis-rate-limiter.replenishRate=5",
                                "filters[2].name=RequestRateLimiter",
                                "filters[2].args.rate-limiter=#{@myRateLimiter}",
                                "filters[2].args.redis-rate-limiter.replenishRate=6"),
                        List.of("limiter.policies.b.limits=1/1h")))) {
            Response denied = other.get("/a/1?user=ann");
            assertEquals(429, denied.status());
            assertEquals("1", denied.fields().get("other"));
            assertEquals(200, other.status("/b/1?user=ann"));
            assertEquals(200, other.status("/both/1?user=bob"));
            assertEquals(429, other.status("/both/1?user=bob"), "by the policy, and not by the arguments of the other");
        }
    }
}
