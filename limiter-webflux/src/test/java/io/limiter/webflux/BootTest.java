package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.PartitionKey;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.kit.LogLines;
import io.limiter.kit.door.Client.Response;
import io.limiter.rule.Cost;
import io.limiter.rule.KeyResolver;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.internal.RequestExplainer;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** A Spring Boot application with nothing of the limiter but its jar and properties. */
class BootTest extends BootSite {
    @Configuration(proxyBeanMethods = false)
    static class Secured extends Site {
        @Override
        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
                    .httpBasic(basic -> {})
                    .authorizeExchange(all -> all.pathMatchers("/api/**")
                            .authenticated()
                            .anyExchange()
                            .permitAll())
                    .build();
        }

        @Bean
        MapReactiveUserDetailsService users() {
            return new MapReactiveUserDetailsService(user("ann", "USER"), user("bob", "USER"), user("root", "ADMIN"));
        }

        private static org.springframework.security.core.userdetails.UserDetails user(String name, String role) {
            return User.withUsername(name).password("{noop}p").roles(role).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Open extends Site {
        @Override
        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.anonymous(all -> {})
                    .authorizeExchange(all -> all.anyExchange().permitAll())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Answering extends Site {
        @Bean
        WebRejectionHandler handler() {
            return (rejection, exchange) -> {
                if (exchange.getRequest().getPath().value().equals("/page")) {
                    exchange.getResponse().getHeaders().set("Content-Encoding", "odd");
                    return Mono.error(new IllegalStateException("meant"));
                }
                ServerHttpResponse response = exchange.getResponse();
                response.setStatusCode(HttpStatus.TOO_MANY_REQUESTS);
                return response.writeWith(Mono.just(response.bufferFactory().wrap("calm down".getBytes())))
                        .then(
                                exchange.getRequest().getPath().value().equals("/api/1")
                                        ? Mono.error(new IOException("meant"))
                                        : Mono.empty());
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Voting extends Site {
        @Bean
        Votes votes() {
            return new Votes();
        }
    }

    @RestController
    static class Votes {
        @GetMapping("/vote")
        @RateLimited(name = "vote", limits = "1/1h fixed name vote", key = "'all'")
        public Mono<String> vote() {
            return Mono.just("ok");
        }
    }

    private static String login(String user) {
        return "Authorization: Basic " + Base64.getEncoder().encodeToString((user + ":p").getBytes());
    }

    @Test
    void rulesBeforeAndAfterAuthenticationLimit() {
        start(
                Secured.class,
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=10/1h fixed",
                "limiter.rules.user.path=/api/*",
                "limiter.rules.user.key=user",
                "limiter.rules.user.limits=1/1h fixed",
                "limiter.rules.user.exempt.roles=ADMIN",
                "limiter.rules.session.path=/page",
                "limiter.rules.session.key=session",
                "limiter.rules.session.limits=1/1h fixed");
        assertEquals(200, status("/api/1", login("ann")));
        Response second = get("/api/2", login("ann"));
        assertEquals(429, second.status());
        assertTrue(second.fields().get("ratelimit").contains("\"user\";r=0"), second::toString);
        assertTrue(second.fields().get("ratelimit").contains("\"all\";r=8"), "one field for both filters: " + second);
        assertEquals(200, status("/api/1", login("bob")));
        assertEquals(200, status("/api/1", login("root")));
        assertEquals(200, status("/api/1", login("root")));
        assertEquals(401, status("/api/1"), "Spring Security refuses it before the second filter");
        Response begun = get("/login");
        String cookie = "Cookie: " + begun.fields().get("set-cookie").split(";")[0];
        assertEquals(200, status("/page", cookie));
        assertEquals(429, status("/page", cookie));
        Response stranger = get("/page", "Cookie: SESSION=made-up");
        assertEquals(200, stranger.status(), "by address");
        assertTrue(
                stranger.fields().getOrDefault("set-cookie", "Max-Age=0").contains("Max-Age=0"),
                "none was begun: " + stranger);
        assertEquals(429, status("/page", "Cookie: SESSION=other"), "by the same address");
        assertEquals(200, status("/"));
        Response last = get("/api/9", login("ann"));
        assertEquals(429, last.status());
        assertTrue(last.body().contains("[\"all\"]"), "the first filter denies: " + last);

        RequestExplainer explainer = context.getBean(RequestExplainer.class);
        Map<String, Explanation> explained = explainer.explain(
                RequestSample.of("GET", "/api/1", "192.0.2.1").withUser("ann", Set.of("USER"), Map.of()));
        assertEquals(
                List.of("io.limiter.webflux.rateLimitFilter", "io.limiter.webflux.rateLimitUserFilter"),
                List.copyOf(explained.keySet()));
        assertFalse(explained.get("io.limiter.webflux.rateLimitUserFilter").admitted());
        assertTrue(explained.get("io.limiter.webflux.rateLimitFilter").admitted(), "from another address");
        assertTrue(explainer
                .explain(RequestSample.of("GET", "/api/1", "192.0.2.1").withUser("root", Set.of("ADMIN"), Map.of()))
                .get("io.limiter.webflux.rateLimitUserFilter")
                .admitted());
        assertEquals(Map.of(), explainer.unusedRules());
    }

    @Test
    void visitorsAreNobodyWhereSpringSecurityNamesThem() {
        start(
                Open.class,
                "limiter.client-ip.trusted-proxies=127.0.0.0/8",
                "limiter.rules.user.path=/*",
                "limiter.rules.user.key=user",
                "limiter.rules.user.limits=1/1h fixed");
        for (String address : List.of("192.0.2.1", "192.0.2.2")) {
            assertEquals(200, status("/", "X-Forwarded-For: " + address), address);
            assertEquals(429, status("/", "X-Forwarded-For: " + address), address);
        }
    }

    @Test
    void anErrorResponseOfTheApplicationIsAnOutcome() {
        start(
                Site.class,
                "spring.webflux.base-path=/shop",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=2/1h fixed",
                "limiter.rules.all.refund-on=404");
        for (int i = 0; i < 5; i++) {
            assertEquals(404, status("/shop/missing", "Accept: text/html"));
            assertEquals(404, status("/shop/nothing-there", "Accept: text/html"));
        }
        assertEquals(200, status("/shop/page"));
        assertEquals(200, status("/shop/"));
        assertEquals(429, status("/shop/missing"));
        assertEquals(404, status("/page"), "outside of the application");
        assertFalse(context.getBean(RequestExplainer.class)
                .explain(RequestSample.of("GET", "/shop/page", "127.0.0.1"))
                .get("io.limiter.webflux.rateLimitFilter")
                .admitted());
    }

    @Configuration(proxyBeanMethods = false)
    static class Nested extends Site {
        @Bean
        RouterFunction<ServerResponse> routes() {
            return RouterFunctions.nest(
                    RequestPredicates.path("/nested"),
                    RouterFunctions.route(
                            RequestPredicates.GET("/votes"),
                            request -> ServerResponse.ok().build()));
        }
    }

    /** What is nested has the path that clients send. */
    @Test
    void rulesMatchTheWholePathOfANestedRoute() {
        start(
                Nested.class,
                "limiter.rules.votes.path=/nested/votes",
                "limiter.rules.votes.limits=2/1h fixed",
                "limiter.rules.inner.path=/votes",
                "limiter.rules.inner.limits=1/1h fixed");
        assertEquals(200, status("/nested/votes"));
        assertEquals(200, status("/nested/votes"));
        assertEquals(429, status("/nested/votes"));
        assertEquals(
                Set.of("inner"),
                context.getBean(RequestExplainer.class).unusedRules().keySet());
    }

    @Test
    void aRuleThatBeginsWithTheBasePathIsReported() {
        start(
                Site.class,
                "spring.webflux.base-path=shop/",
                "limiter.rules.page.path=/shop/page",
                "limiter.rules.page.limits=1/1h fixed",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=3/1h fixed");
        assertEquals(200, status("/shop/page"));
        assertEquals(200, status("/shop/page"));
        List<String> told = log.of(Level.WARN, "RL-325");
        assertEquals(1, told.size(), log::toString);
        assertTrue(told.get(0).contains("context path /shop: [page (/shop/page)]"), told::toString);
        assertTrue(told.get(0).contains("write /page instead"), told::toString);
    }

    @Test
    void aHandlerOfTheApplicationAnswersDenials() {
        start(Answering.class, "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h fixed");
        Response own = get("/");
        assertEquals(429, own.status());
        assertTrue(own.body().contains("calm down"), own::toString);
        assertEquals("no-store", own.fields().get("cache-control"));
        Response standard = get("/page");
        assertEquals("application/problem+json", standard.fields().get("content-type"));
        assertFalse(standard.fields().containsKey("content-encoding"), standard::toString);
        assertEquals(1, log.of(Level.WARN, "RL-322").size(), log::toString);
        try (LogLines spring = new LogLines("org.springframework.web", Level.ERROR).about("/api/1")) {
            assertTrue(get("/api/1").body().contains("calm down"));
            assertEquals(429, status("/"), "the connection is well");
            assertEquals("", spring.toString());
        }
    }

    @Test
    void aDeniedMethodAnswersBesideTheRules() {
        start(
                Voting.class,
                "limiter.http.headers=draft-10",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=9/1h fixed name all");
        assertEquals(200, status("/vote"));
        Response denied = get("/vote", "Accept: text/plain");
        assertEquals(429, denied.status());
        assertTrue(denied.fields().get("content-type").startsWith("text/plain"), denied::toString);
        assertTrue(
                denied.fields().get("ratelimit").matches("\"all\";r=7(;t=\\d+)?, \"vote\";r=0;t=\\d+"),
                denied::toString);
        assertEquals("\"all\";q=9;w=3600, \"vote\";q=1;w=3600", denied.fields().get("ratelimit-policy"));
    }

    @Test
    void whatTheDoorCanNotDoFailsStartup() {
        fails(
                "RL-114",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h",
                "limiter.http.rejection-handler=" + String.class.getName());
        fails("RL-101", "limiter.rules.all.pth=/*", "limiter.rules.all.limits=1/1h");
    }

    /** Written for another door. */
    public static class OfServlets implements KeyResolver<HttpServletRequest>, Cost<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            return PartitionKey.of(request.getRemoteAddr());
        }

        @Override
        public long permits(HttpServletRequest request) {
            return 0;
        }
    }

    @Test
    void aClassForAnotherDoorLimitsLikeOneThatFails() {
        start(
                Open.class,
                "limiter.rules.key.path=/page",
                "limiter.rules.key.limits=1/1h fixed",
                "limiter.rules.key.key=class:" + OfServlets.class.getName(),
                "limiter.rules.cost.path=/api/*",
                "limiter.rules.cost.limits=3/1h fixed",
                "limiter.rules.cost.cost=" + OfServlets.class.getName());
        assertEquals(List.of(200, 429), List.of(status("/page"), status("/page")));
        assertEquals(List.of(200, 429), List.of(status("/api/1"), status("/api/1")));
        assertTrue(log.only(Level.WARN, "RL-317").contains(OfServlets.class.getName()), log::toString);
        assertTrue(log.only(Level.WARN, "RL-327").contains(OfServlets.class.getName()), log::toString);
    }

    @Test
    void withoutFiltersNothingIsLimited() {
        start(Site.class, "limiter.filter.enabled=false", "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h");
        assertEquals(200, status("/"));
        assertTrue(context.getBeansOfType(RateLimitWebFilter.class).isEmpty());
    }
}
