package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.kit.Await;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import io.limiter.rule.KeyResolver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The three ways to limit a gateway together, and what a gateway does between them: what is counted, and how often. */
class TogetherTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int MANY = 1_000;
    private static final AtomicInteger ASKED = new AtomicInteger();
    private static final String RATE_LIMITER = "name=RequestRateLimiter";
    private static Site site;

    /** With an endpoint of its own. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway extends Site.Gateway {
        @Bean
        RouterFunction<ServerResponse> inside() {
            return RouterFunctions.route(
                    RequestPredicates.path("/inside"),
                    request -> ServerResponse.ok()
                            .contentType(MediaType.TEXT_PLAIN)
                            .bodyValue("inside"));
        }
    }

    /** By what a route says about itself. */
    public static final class Shop implements KeyResolver<ServerWebExchange> {
        @Override
        public PartitionKey resolve(ServerWebExchange exchange) {
            Route route = exchange.getRequiredAttribute(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR);
            return PartitionKey.of(route.getMetadata().get("shop").toString());
        }
    }

    private static List<String> shop(String id, String shop) {
        return List.of(
                "id=" + id,
                "metadata.shop=" + shop,
                "filters[0].name=Limiter",
                "filters[0].args.policy=shop",
                "filters[0].args.key=class:" + Shop.class.getName());
    }

    private static DisposableServer service() {
        return HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .route(routes -> routes.ws(
                                "/socket/1",
                                (in, out) -> out.sendString(in.receive().asString()))
                        .get("/{first}/{second}", (request, response) -> {
                            int number = ASKED.incrementAndGet();
                            boolean fails = request.uri().contains("fails") && number % 3 != 0;
                            if (request.uri().contains("told")) {
                                response.addHeader("RateLimit", "\"service\";r=7");
                            }
                            return response.status(fails ? 502 : 200).sendString(Mono.just(request.uri()));
                        }))
                .bindNow();
    }

    @BeforeAll
    static void start() {
        DisposableServer service = service();
        site = new Site(
                Gateway.class,
                service,
                Site.routes(
                        List.of(
                                "id=retried",
                                "filters[0].name=Retry",
                                "filters[0].args.retries=3",
                                "filters[0].args.statuses=BAD_GATEWAY",
                                "filters[1]=Limiter=retried, global",
                                "filters[2]=Limiter=flight, global"),
                        List.of(
                                "id=asked",
                                "filters[0]." + RATE_LIMITER,
                                "filters[0].args.rate-limiter=#{@limiterRateLimiter}",
                                "filters[0].args.limiter.policy=asked",
                                "filters[1].name=Retry",
                                "filters[1].args.retries=3",
                                "filters[1].args.statuses=BAD_GATEWAY"),
                        List.of(
                                "id=asked-again",
                                "filters[0].name=Retry",
                                "filters[0].args.retries=3",
                                "filters[0].args.statuses=BAD_GATEWAY",
                                "filters[1]." + RATE_LIMITER,
                                "filters[1].args.rate-limiter=#{@limiterRateLimiter}",
                                "filters[1].args.limiter.policy=asked-again"),
                        List.of("id=forward", "uri=forward:/inside", "filters[0]=Limiter=forward, global"),
                        List.of(
                                "id=chained",
                                "uri=forward:/forward/1",
                                "filters[0]=Limiter=chained, global",
                                "filters[1]=Limiter=flight, global"),
                        List.of(
                                "id=rewritten",
                                "filters[0]=SetPath=/other/1",
                                "filters[1].name=Limiter",
                                "filters[1].args.policy=rewritten",
                                "filters[1].args.key=global",
                                "filters[1].args.path=/rewritten/*"),
                        List.of("id=cors", "filters[0]=Limiter=cors, global"),
                        List.of(
                                "id=socket",
                                "uri=ws://127.0.0.1:" + service.port(),
                                "filters[0]=Limiter=socket, global",
                                "filters[1]=Limiter=flight, global"),
                        List.of(
                                "id=broken",
                                "uri=http://127.0.0.1:1",
                                "filters[0].name=CircuitBreaker",
                                "filters[0].args.name=broken",
                                "filters[0].args.fallbackUri=forward:/inside",
                                "filters[1]=Limiter=broken, global",
                                "filters[2]=Limiter=flight, global"),
                        List.of("id=admin"),
                        List.of(
                                "id=again",
                                "filters[0]." + RATE_LIMITER,
                                "filters[0].args.rate-limiter=#{@limiterRateLimiter}",
                                "filters[0].args.limiter.policy=again"),
                        shop("east-1", "east"),
                        shop("east-2", "east"),
                        shop("west", "west"),
                        List.of(
                                "limiter.policies.retried.limits=1000/1h fixed",
                                "limiter.policies.asked.limits=1000/1h fixed",
                                "limiter.policies.asked-again.limits=1000/1h fixed",
                                "limiter.policies.forward.limits=1000/1h fixed",
                                "limiter.policies.chained.limits=1000/1h fixed",
                                "limiter.policies.rewritten.limits=1000/1h fixed",
                                "limiter.policies.cors.limits=1000/1h fixed",
                                "limiter.policies.socket.limits=1000/1h fixed",
                                "limiter.policies.shop.limits=2/1h fixed",
                                "limiter.policies.again.limits=9/1h fixed",
                                "limiter.policies.broken.limits=1000/1h fixed",
                                "limiter.policies.flight.limits=1000 concurrent",
                                "limiter.rules.inside.path=/inside",
                                "limiter.rules.inside.key=global",
                                "limiter.rules.inside.limits=1000/1h fixed",
                                "limiter.rules.admin.path=/admin/*",
                                "limiter.rules.admin.key=global",
                                "limiter.rules.admin.limits=1000/1h fixed",
                                "limiter.rules.before.path=/*",
                                "limiter.rules.before.key=global",
                                "limiter.rules.before.limits=1000/1h fixed",
                                "server.forward-headers-strategy=framework",
                                "spring.cloud.gateway.server.webflux.globalcors.cors-configurations.[/**].allowed-origins=*")));
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    private static long taken(String policy) {
        Limiter limiter = site.context.getBean(Limiter.class);
        return MANY
                - 1
                - limiter.rateLimiter()
                        .tryAcquire(PermitRequest.of(limiter.policy(policy), PartitionKey.global(), 1)
                                .withLook())
                        .outcomes()
                        .get(0)
                        .remaining();
    }

    private static void assertTaken(long before, long more, String policy) {
        assertEquals(before + more, taken(policy), policy);
    }

    private static void assertNothingInFlight() {
        Await.until(LONG, "nothing in flight", () -> taken("flight") == 0);
    }

    @Test
    void aRetryIsTheSameRequest() {
        ASKED.set(0);
        long before = taken("retried");
        long beforeAll = taken("before");
        Response answer = site.get("/retried/fails");
        assertEquals(200, answer.status());
        assertEquals(3, ASKED.get(), "asked by the gateway");
        assertTrue(answer.fields().get("ratelimit").contains("\"retried\""), answer::toString);
        assertTaken(before, 1, "retried");
        assertTaken(beforeAll, 1, "before");
        assertNothingInFlight();
    }

    /** Gateway's Retry removes the fields that the service has sent, by their names: as the page says. */
    @Test
    void aRetryRemovesTheFieldsThatTheServiceHasSentToo() {
        long before = taken("retried");
        ASKED.set(0);
        Response answer = site.get("/retried/fails-told");
        assertEquals(3, ASKED.get(), "asked by the gateway");
        assertEquals("\"service\";r=7", answer.fields().get("ratelimit"), answer::toString);
        assertTrue(answer.fields().get("ratelimit-policy").contains("\"retried\""), answer::toString);
        assertTaken(before, 1, "retried");
    }

    @Test
    void aKeyCanBeTheMetadataOfTheRoute() {
        assertEquals(200, site.status("/east-1/1"));
        assertEquals(200, site.status("/east-2/1"));
        assertEquals(429, site.status("/east-1/1"));
        assertEquals(200, site.status("/west/1"));
    }

    @Test
    void routesThatAreMadeAgainGoOnCounting() {
        long before = taken("forward");
        for (int i = 0; i < 3; i++) {
            assertEquals("inside", site.get("/forward/1").body());
            assertTaken(before, i + 1, "forward");
            String left = "\"again\";r=" + (8 - i);
            String quota = site.get("/again/1?user=ann").fields().get("ratelimit");
            assertTrue(quota.contains(left), quota);
            // What the endpoint of the actuator does.
            site.context.publishEvent(new RefreshRoutesEvent(site));
        }
    }

    /** Gateway runs what is in the list after Retry once for each try, and what is before it once. */
    @Test
    void theOrderOfRetryAndRequestRateLimiterCounts() {
        for (String route : List.of("asked", "asked-again")) {
            ASKED.set(0);
            String first = site.get("/" + route + "/fails?user=ann").fields().get("ratelimit");
            assertEquals(3, ASKED.get(), "asked by the gateway");
            String next = site.get("/" + route + "/1?user=ann").fields().get("ratelimit");
            String left = "\"" + route + "\";r=" + (route.equals("asked") ? 998 : 996);
            assertTrue(next.contains(left), () -> first + ", then " + next);
        }
    }

    @Test
    void aForwardIsCountedByTheRouteAndNotByTheRulesOfItsTarget() {
        long before = taken("forward");
        long inside = taken("inside");
        assertEquals("inside", site.get("/forward/1").body());
        assertTaken(before, 1, "forward");
        assertTaken(inside, 0, "inside");
        assertEquals("inside", site.get("/inside").body());
        assertTaken(inside, 1, "inside");
        long chained = taken("chained");
        assertEquals("inside", site.get("/chained/1").body());
        assertTaken(chained, 1, "chained");
        assertTaken(before, 2, "forward");
        assertNothingInFlight();
    }

    @Test
    void aFallbackIsPartOfTheRequest() {
        long before = taken("broken");
        long all = taken("before");
        long inside = taken("inside");
        Response answer = site.get("/broken/1");
        assertEquals("inside", answer.body());
        assertTrue(answer.fields().get("ratelimit").contains("\"broken\""), answer::toString);
        assertTaken(before, 1, "broken");
        assertTaken(all, 1, "before");
        assertTaken(inside, 0, "inside");
        assertNothingInFlight();
    }

    @Test
    void aRouteSeesThePathThatTheClientHasSent() {
        long before = taken("rewritten");
        assertEquals("/other/1", site.get("/rewritten/1").body());
        assertTaken(before, 1, "rewritten");
    }

    @Test
    void aPreflightIsNotCountedAndTheAnswerOfARouteHasItsFields() {
        long before = taken("cors");
        long all = taken("before");
        Response preflight = Client.send(
                        site.port(),
                        "OPTIONS",
                        "/cors/1",
                        "Origin: https://other.example",
                        "Access-Control-Request-Method: GET")
                .response();
        assertEquals(200, preflight.status());
        assertTaken(before, 0, "cors");
        assertTaken(all, 0, "before");
        Response answer = site.get("/cors/1", "Origin: https://other.example");
        assertEquals("*", answer.fields().get("access-control-allow-origin"));
        assertTaken(before, 1, "cors");
    }

    @Test
    void aWebSocketIsOneRequestAndLeavesNothingInFlight() throws Exception {
        long before = taken("socket");
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + site.port() + "/socket/1"), new WebSocket.Listener() {})
                .get(60, TimeUnit.SECONDS);
        for (int i = 0; i < 3; i++) {
            socket.sendText("text", true).get(60, TimeUnit.SECONDS);
        }
        assertTaken(before, 1, "socket");
        socket.abort();
        assertNothingInFlight();
    }

    /** Gateway's routes read the whole path, with a prefix that a client has sent; endpoints what is after it. */
    @Test
    void aPrefixOfAClientAvoidsNoRule() {
        long before = taken("admin");
        Response answer = site.get("/1", "X-Forwarded-Prefix: /admin");
        assertEquals(200, answer.status(), "routed as /admin/1");
        assertTaken(before, 1, "admin");
        long inside = taken("inside");
        assertEquals(
                "inside", site.get("/inside", "X-Forwarded-Prefix: /admin-not").body());
        assertTaken(inside, 1, "inside");
    }
}
