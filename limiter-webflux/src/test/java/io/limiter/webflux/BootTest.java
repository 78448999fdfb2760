package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.PartitionKey;
import io.limiter.http.Explanation;
import io.limiter.http.RequestSample;
import io.limiter.kit.LogLines;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import io.limiter.rule.KeyResolver;
import io.limiter.spring.boot.internal.RequestExplainer;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;

/** A Spring Boot application with nothing of the limiter but its jar and properties. */
class BootTest {
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
                return response.writeWith(Mono.just(response.bufferFactory().wrap("calm down".getBytes())));
            };
        }
    }

    private final LogLines log = new LogLines();
    private ConfigurableApplicationContext context;

    private void start(Class<?> site, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.address=127.0.0.1", "spring.main.banner-mode=off", "server.error.include-message=never"));
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

    private Response get(String target, String... headers) {
        int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return Client.send(port, "GET", target, headers).response();
    }

    private int status(String target, String... headers) {
        return get(target, headers).status();
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
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void anAddressOfAHeaderIsFoundAndThePeerCounts(String strategy) {
        start(
                Site.class,
                "server.forward-headers-strategy=" + strategy,
                "limiter.client-ip.source=connection",
                "limiter.deny.addresses=127.0.0.1",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h fixed");
        assertEquals(403, status("/", "X-Forwarded-For: 192.0.2.1"), "the peer is denied, whatever it claims");
        assertEquals(403, status("/", "Forwarded: for=192.0.2.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void behindATrustedProxyTheClientCounts(String strategy) {
        start(
                Site.class,
                "server.forward-headers-strategy=" + strategy,
                "limiter.client-ip.source=connection",
                "limiter.client-ip.trusted-proxies=127.0.0.0/8",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h fixed");
        assertEquals(200, status("/", "X-Forwarded-For: 198.51.100.9, 192.0.2.1"));
        assertEquals(
                429, status("/", "X-Forwarded-For: 203.0.113.5, 192.0.2.1"), "the first one is the client's own text");
        assertEquals(200, status("/", "X-Forwarded-For: 192.0.2.2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void replacedAddressesAreReportedOrRefused(String strategy) {
        start(
                Site.class,
                "server.forward-headers-strategy=" + strategy,
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h fixed");
        assertEquals(1, log.of(Level.WARN, "RL-330").size(), log::toString);
        fails(
                "RL-191",
                "server.forward-headers-strategy=" + strategy,
                "limiter.exempt.addresses=10.0.0.0/8",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h fixed");
    }

    @Test
    void whatTheDoorCanNotDoFailsStartup() {
        fails(
                "RL-114",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h",
                "limiter.http.rejection-handler=" + String.class.getName());
        fails(
                "RL-114",
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h",
                "limiter.rules.all.key=class:" + OfServlets.class.getName());
        fails("RL-101", "limiter.rules.all.pth=/*", "limiter.rules.all.limits=1/1h");
    }

    /** Written for another door. */
    public static class OfServlets implements KeyResolver<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            return PartitionKey.of(request.getRemoteAddr());
        }
    }

    private static void fails(String code, String... properties) {
        BootTest other = new BootTest();
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

    @Test
    void withoutFiltersNothingIsLimited() {
        start(Site.class, "limiter.filter.enabled=false", "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h");
        assertEquals(200, status("/"));
        assertTrue(context.getBeansOfType(RateLimitWebFilter.class).isEmpty());
    }
}
