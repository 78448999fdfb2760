package io.limiter.spring.boot.webflux;

import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.concurrent.CompletionException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The pages of a site with WebFlux, each of which a limited method can deny. */
@Configuration(proxyBeanMethods = false)
@Import({Pages.Controller.class, Pages.Service.class})
class Pages {
    @RestController
    static class Controller {
        private final Service service;

        Controller(Service service) {
            this.service = service;
        }

        @GetMapping("/value")
        @RateLimited(value = "page", key = "'value'")
        public String value() {
            return "ok";
        }

        @GetMapping("/mono")
        @RateLimited(value = "page", key = "'mono'")
        public Mono<String> mono() {
            return Mono.just("ok");
        }

        @GetMapping("/flux")
        @RateLimited(value = "page", key = "'flux'")
        public Flux<String> flux() {
            return Flux.just("o", "k");
        }

        @GetMapping("/service")
        public Mono<String> ofService() {
            return service.call("service");
        }

        @GetMapping("/wrapped")
        public String wrapped() {
            try {
                return service.value();
            } catch (RateLimitExceededException denied) {
                throw new CompletionException(denied);
            }
        }

        @GetMapping("/never")
        @RateLimited(value = "never", key = "global")
        public String never() {
            return "never";
        }

        @GetMapping("/broken")
        public String broken() {
            throw new IllegalStateException("broken");
        }
    }

    static class Service {
        @RateLimited(value = "page", key = "#key")
        public Mono<String> call(String key) {
            return Mono.just("ok");
        }

        @RateLimited(value = "page", key = "'wrapped'")
        public String value() {
            return "ok";
        }
    }

    @Bean
    RouterFunction<ServerResponse> routes(Service service) {
        return RouterFunctions.route()
                .GET(
                        "/route",
                        request -> service.call("route")
                                .flatMap(text -> ServerResponse.ok().bodyValue(text)))
                .build();
    }

    @Bean
    WebFilter filter(Service service) {
        return (exchange, chain) -> exchange.getRequest().getPath().value().equals("/filter")
                ? service.call("filter").flatMap(text -> exchange.getResponse().setComplete())
                : chain.filter(exchange);
    }
}
