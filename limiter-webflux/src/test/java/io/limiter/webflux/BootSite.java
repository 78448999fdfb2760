package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.LogLines;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;

/** A Spring Boot application, for one test, with nothing of the limiter but its jar and properties. */
class BootSite {
    static {
        // It would replace what reads the log.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebFluxSecurity
    static class Site {
        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
                    .authorizeExchange(all -> all.anyExchange().permitAll())
                    .build();
        }

        /** Of its own: it ends with the context, and those that all share would end for the servers of other classes too. */
        @Bean
        ReactorResourceFactory resources() {
            ReactorResourceFactory own = new ReactorResourceFactory();
            own.setUseGlobalResources(false);
            return own;
        }

        @Bean
        Pages pages() {
            return new Pages();
        }
    }

    @RestController
    static class Pages {
        @GetMapping({"/", "/page", "/api/{id}"})
        Mono<String> page() {
            return Mono.just("ok");
        }

        @GetMapping("/login")
        Mono<String> login(WebSession session) {
            session.getAttributes().put("is", "new");
            return Mono.just("ok");
        }

        @GetMapping("/missing")
        Mono<String> missing() {
            return Mono.error(new ResponseStatusException(HttpStatus.NOT_FOUND));
        }
    }

    final LogLines log = new LogLines();
    ConfigurableApplicationContext context;

    final void start(Class<?> site, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.address=127.0.0.1",
                "server.port=0",
                "spring.main.banner-mode=off",
                "server.error.include-message=never"));
        all.addAll(List.of(properties));
        context = new SpringApplicationBuilder(site)
                .web(WebApplicationType.REACTIVE)
                .registerShutdownHook(false)
                .properties(all.toArray(String[]::new))
                // The class path has other servers.
                .initializers(made -> ((GenericApplicationContext) made).registerBean(netty()))
                .run();
    }

    /** Its class has another home in Spring Boot 4. */
    private static Class<?> netty() {
        return Stream.of("web.embedded.netty", "reactor.netty")
                .map(home -> "org.springframework.boot." + home + ".NettyReactiveWebServerFactory")
                .filter(name -> ClassUtils.isPresent(name, null))
                .map(name -> ClassUtils.resolveClassName(name, null))
                .findFirst()
                .orElseThrow();
    }

    @AfterEach
    void stop() {
        if (context != null) {
            context.close();
        }
        log.close();
    }

    final Response get(String target, String... headers) {
        int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return Client.send(port, "GET", target, headers).response();
    }

    final int status(String target, String... headers) {
        return get(target, headers).status();
    }

    static void fails(String code, String... properties) {
        BootSite other = new BootSite();
        try {
            RuntimeException failure = assertThrows(RuntimeException.class, () -> other.start(Site.class, properties));
            StringBuilder all = new StringBuilder();
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                all.append(cause.getMessage()).append('\n');
            }
            assertTrue(all.toString().contains(code), all::toString);
        } finally {
            other.stop();
        }
    }
}
