package io.limiter.compat.gateway;

import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A gateway, and a service behind it. */
final class Site implements AutoCloseable {
    static {
        // It would replace what reads the log.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    }

    private static final String PREFIX = "spring.cloud.gateway.server.webflux.";

    /** Keeps the connections to its service open. */
    static final String POOLED = "httpclient.pool.type=elastic";

    final DisposableServer service;
    final ConfigurableApplicationContext context;

    /** With a KeyResolver of Gateway's documentation. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway {
        @Bean
        KeyResolver userKeyResolver() {
            return exchange ->
                    Mono.justOrEmpty(exchange.getRequest().getQueryParams().getFirst("user"));
        }
    }

    /** A service. It answers with the path of the request; to {@code /slow} only after the test has released it. */
    static DisposableServer service(Mono<Void> slow) {
        return HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle((request, response) -> {
                    String path = request.uri();
                    if (path.contains("missing")) {
                        return response.status(404).send();
                    }
                    Mono<String> end = path.contains("slow") ? slow.thenReturn("end") : Mono.just("");
                    return response.header("RateLimit-Of-Service", "1")
                            .sendString(Mono.just(path).concatWith(end));
                })
                .bindNow();
    }

    Site(Class<?> application, DisposableServer service, String... properties) {
        this.service = service;
        List<String> all =
                new ArrayList<>(List.of("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off"));
        // Gateway's own limiter, unless it is asked for.
        if (!List.of(properties).contains("redis.enabled=true")) {
            all.add(PREFIX + "redis.enabled=false");
        }
        // The service may stop reading a connection that stays open: reactor-netty#4361.
        if (!List.of(properties).contains(POOLED)) {
            all.add(PREFIX + "httpclient.pool.type=disabled");
        }
        for (String property : properties) {
            all.add(property.replaceFirst("^(routes|default-filters|redis.enabled|httpclient)", PREFIX + "$1")
                    .replace("SERVICE", "http://127.0.0.1:" + service.port()));
        }
        SpringApplication gateway = new SpringApplicationBuilder(application)
                .registerShutdownHook(false)
                .build();
        context = gateway.run(all.stream().map(one -> "--" + one).toArray(String[]::new));
    }

    static Site of(String... properties) {
        return new Site(Gateway.class, service(Mono.empty()), properties);
    }

    /** Properties of routes with all paths below their ids, and others. */
    @SafeVarargs
    static String[] routes(List<String>... all) {
        List<String> properties = new ArrayList<>();
        for (int i = 0; i < all.length; i++) {
            String first = all[i].get(0);
            if (first.startsWith("id=")) {
                String route = "routes[" + i + "].";
                if (all[i].stream().noneMatch(one -> one.startsWith("uri="))) {
                    properties.add(route + "uri=SERVICE");
                }
                properties.add(route + "predicates[0]=Path=/" + first.substring("id=".length()) + "/**");
                all[i].forEach(one -> properties.add(route + one));
            } else {
                properties.addAll(all[i]);
            }
        }
        return properties.toArray(String[]::new);
    }

    int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    Response get(String target, String... headers) {
        return Client.send(port(), "GET", target, headers).response();
    }

    int status(String target, String... headers) {
        return get(target, headers).status();
    }

    @Override
    public void close() {
        context.close();
        service.disposeNow();
    }
}
