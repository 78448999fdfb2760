package io.limiter.compat.gateway;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.door.Door;
import io.limiter.kit.door.DoorTest;
import io.limiter.webflux.RateLimitWebFilter;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** What must be the same at each door, before the routes of one gateway. The application is a service behind it. */
class GatewayDoorTest extends DoorTest {
    private static final String ATTRIBUTE = "Test-Attribute-";
    /** Before those of the limiter's own configuration, which has no rules. */
    private static final int FIRST = -20_000;

    private static Site site;
    private static volatile RateLimitWebFilter filter;
    private static volatile Application application;

    /** Of the current test. Its name goes with each request: one that an earlier test has left may reach the service late. */
    private record Application(String name, Door.App app) {}

    static Stream<Door> doors() {
        return Stream.of(GatewayDoorTest::start);
    }

    /** With the filter of the current test, between two of the site. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway {
        @Bean
        @Order(FIRST)
        WebFilter disguise() {
            return (exchange, chain) -> chain.filter(disguised(exchange));
        }

        @Bean
        @Order(FIRST + 1)
        WebFilter limits() {
            return (exchange, chain) -> filter.filter(exchange, chain);
        }

        @Bean
        @Order(0)
        GlobalFilter attributes() {
            return (exchange, chain) -> chain.filter(exchange).then(Mono.fromRunnable(() -> takeAttributes(exchange)));
        }
    }

    /** A request may say whose it is. */
    private static ServerWebExchange disguised(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        String address = headers.getFirst("Test-Address");
        String user = headers.getFirst("Test-User");
        ServerHttpRequest.Builder request =
                exchange.getRequest().mutate().header("Test-Application", application.name());
        if (address != null) {
            exchange.getAttributes().put("io.limiter.peer", address);
            request.remoteAddress(InetSocketAddress.createUnresolved(address, 1));
        }
        ServerWebExchange.Builder changed = exchange.mutate().request(request.build());
        if (user != null) {
            changed.principal(
                    Mono.just(new TestingAuthenticationToken(user, "", "ROLE_" + headers.getFirst("Test-Role"))));
        }
        return changed.build();
    }

    /** A service can't set attributes of the exchange, so it sends them as headers. */
    private static void takeAttributes(ServerWebExchange exchange) {
        for (String name : List.of("failed", "tokens")) {
            String value = exchange.getResponse().getHeaders().getFirst(ATTRIBUTE + name);
            if (value != null) {
                exchange.getResponse().getHeaders().remove(ATTRIBUTE + name);
                exchange.getAttributes().put(name, value.matches("[0-9]+") ? Long.valueOf(value) : value);
            }
        }
    }

    @BeforeAll
    static void startGateway() {
        startGateway("server.http2.enabled=false");
    }

    static void startGateway(String... others) {
        DisposableServer service = HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle(GatewayDoorTest::serve)
                .bindNow();
        List<String> all = new ArrayList<>(List.of(others));
        all.addAll(List.of(
                "routes[0].id=admin",
                "routes[0].uri=SERVICE",
                "routes[0].predicates[0]=Path=/admin",
                "routes[0].filters[0]=AddRequestHeader=Test-Route, /admin",
                "routes[1].id=all",
                "routes[1].uri=SERVICE",
                "routes[1].predicates[0]=Path=/**"));
        site = new Site(Gateway.class, service, all.toArray(String[]::new));
    }

    @AfterAll
    static void stopGateway() {
        site.close();
    }

    static Door.Running start(Path directory, RateLimiter limiter, String rules, Door.App replies) throws Exception {
        LimiterConfig config =
                LimiterConfig.builder().text("test", new StringReader(rules)).build();
        RateLimitWebFilter made =
                RateLimitWebFilter.builder(Limiter.of(config, limiter)).build();
        application = new Application(UUID.randomUUID().toString(), replies);
        filter = made;
        return new Door.Running() {
            @Override
            public int port() {
                return site.port();
            }

            @Override
            public void stopHolding() {
                made.stopHolding();
            }

            @Override
            public void close() {
                made.close();
            }
        };
    }

    private static Mono<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        Application current = application;
        if (!current.name().equals(request.requestHeaders().get("Test-Application"))) {
            return response.status(503).send();
        }
        QueryStringDecoder target = new QueryStringDecoder(request.uri());
        Door.Reply reply;
        try {
            reply = current.app()
                    .reply(new Door.Asked(
                            request.method().name(),
                            path -> path.equals(request.requestHeaders().get("Test-Route"))
                                    || PathPatternParser.defaultInstance
                                            .parse(path)
                                            .matches(PathContainer.parsePath(target.rawPath())),
                            name -> request.requestHeaders().get(name),
                            name -> target.parameters().getOrDefault(name, List.of()).stream()
                                    .findFirst()
                                    .orElse(null)));
        } catch (Exception failed) {
            return Mono.error(failed);
        }
        response.status(reply.status);
        reply.fields.forEach(response::header);
        reply.attributes.forEach((name, value) -> response.header(ATTRIBUTE + name, value.toString()));
        CompletableFuture<?> end = reply.end == null ? CompletableFuture.completedFuture(null) : reply.end;
        return Mono.fromFuture(end, true).then(Mono.defer(() -> Mono.from(response.send())));
    }
}
