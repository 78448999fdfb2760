package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.rule.KeyResolver;
import io.limiter.servlet.RateLimitFilter;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The filters and Spring Security: by address before it, by user behind it. */
class SecurityTest {
    private static final AtomicInteger HASHED = new AtomicInteger();

    /** The application of the tests that need no other: each puts its rules in force, with names of its own. */
    private static BootSite shared;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        shared = BootSite.start(Site.class);
    }

    @AfterAll
    static void stop() {
        shared.close();
    }

    /** The shared application with these rules, as a visitor without cookies sees it. */
    private static BootSite withRules(String yaml) {
        YamlPropertiesFactoryBean properties = new YamlPropertiesFactoryBean();
        properties.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        Map<String, String> rules = new HashMap<>();
        properties.getObject().forEach((key, value) -> rules.put(String.valueOf(key), String.valueOf(value)));
        shared.bean(Limiter.class)
                .replace(LimiterConfig.builder().properties("next", rules).build());
        return shared.newVisitor();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Pages.class)
    static class Site {
        @Bean
        SecurityFilterChain formLogin(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .authorizeHttpRequests(requests -> requests.requestMatchers("/open")
                            .permitAll()
                            .anyRequest()
                            .authenticated())
                    .formLogin(Customizer.withDefaults())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("ann").password("right").roles("USER").build(),
                    User.withUsername("bob").password("right").roles("USER").build());
        }

        @Bean
        PasswordEncoder passwordEncoder() {
            return new PasswordEncoder() {
                @Override
                public String encode(CharSequence password) {
                    return password.toString();
                }

                @Override
                public boolean matches(CharSequence password, String encoded) {
                    HASHED.incrementAndGet();
                    return password.toString().equals(encoded);
                }
            };
        }
    }

    @RestController
    static class Pages {
        @GetMapping({"/open", "/closed"})
        public String page() {
            return "page";
        }
    }

    @Test
    void aFloodOfLoginsCostsNoPasswordHashes() {
        HASHED.set(0);
        BootSite site = withRules("""
                limiter.rules.flood:
                  path: /login
                  methods: POST
                  limits: 3/1h
                """);
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> answer = site.form("/login", "username=ann&password=wrong");
            assertEquals("/login?error", location(answer));
        }
        int hashed = HASHED.get();
        assertEquals(3, hashed);
        HttpResponse<String> denied = site.form("/login", "username=ann&password=right");
        assertEquals(429, denied.statusCode());
        assertEquals(hashed, HASHED.get());
        assertEquals(401, site.call("GET", "/closed").statusCode(), "other pages are as they were");
    }

    /** The recipe of the page for Spring Security's form login, which answers each login with 302. */
    @Test
    void wrongPasswordsOfAFormLoginCountAndRightOnesDoNot() {
        BootSite site = withRules("""
                limiter.rules.login:
                  path: /login
                  methods: POST
                  limits: 5/15m
                  count-on: 401, 403, 5xx, header:Location=*/login?error*
                """);
        for (int i = 0; i < 8; i++) {
            assertEquals("/", location(site.form("/login", "username=ann&password=right")));
        }
        for (int i = 0; i < 5; i++) {
            assertEquals("/login?error", location(site.form("/login", "username=ann&password=wrong")));
        }
        assertEquals(429, site.form("/login", "username=ann&password=wrong").statusCode());
        assertEquals(429, site.form("/login", "username=ann&password=right").statusCode());
    }

    @Test
    void whoIsLoggedInHasAQuotaOfTheUser() {
        BootSite site = withRules("""
                limiter.rules.members:
                  path: /*
                  key: user
                  limits: 2/1h
                """);
        assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/closed", "Authorization", basic("ann")));
        assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/open", "Authorization", basic("bob")));
        assertEquals(List.of(401, 401, 401), site.statuses(3, "GET", "/closed", "Authorization", "Basic YTpi"));
    }

    @Test
    void usersAndRolesAreExemptWhereTheyAreKnown() {
        String yaml = """
                limiter:
                  exempt.users: ann
                  rules:
                    early: {path: /open, limits: 1/1h}
                    late: {path: /*, key: user, limits: 1/1h}
                    staff: {path: /closed, limits: 1/1h, exempt.roles: USER}
                """;
        try (BootSite site = BootSite.start(folder, yaml, Site.class)) {
            assertEquals(List.of(200, 200, 200), site.statuses(3, "GET", "/closed", "Authorization", basic("ann")));
            assertEquals(List.of(200, 429), site.statuses(2, "GET", "/closed", "Authorization", basic("bob")));
            assertEquals(
                    List.of(200, 429),
                    site.statuses(2, "GET", "/open", "Authorization", basic("ann")),
                    "decided before the login");
            assertEquals(List.of(401, 401), site.statuses(2, "GET", "/closed", "Authorization", "Basic YTpi"));
        }
    }

    @Test
    void aSessionIsKnownBeforeTheLoginIsChecked() {
        BootSite site = withRules("""
                limiter:
                  rules:
                    visit: {path: /open, key: session, limits: 2/1h}
                    known: {path: /closed, key: user, limits: 2/1h}
                """);
        assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/open"), "by address: there is no session");
        assertEquals("/", location(site.form("/login", "username=ann&password=right")));
        assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/open"), "that of the session");
        assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/closed"), "that of the user");
    }

    /** Counts by a bean that only the application can make. */
    record ByTenant(String suffix) implements KeyResolver<HttpServletRequest> {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            return PartitionKey.of(request.getHeader("Tenant") + suffix);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class TenantSite {
        @Bean
        ByTenant byTenant() {
            return new ByTenant("!");
        }
    }

    @Test
    void aBeanMakesTheKey() {
        // The rows of Spring Boot also have the door of gRPC, which refuses a class that is for another kind of
        // request.
        String yaml =
                "limiter.rules.open: {path: /open, key: \"class:" + ByTenant.class.getName() + "\", limits: 1/1h}";
        String without = "--spring.autoconfigure.exclude=io.limiter.grpc.LimiterGrpcAutoConfiguration";
        try (BootSite site = BootSite.start(folder, yaml, TenantSite.class, without)) {
            assertEquals(List.of(200, 429), site.statuses(2, "GET", "/open", "Tenant", "a"));
            assertEquals(200, site.call("GET", "/open", "Tenant", "b").statusCode());
        }
    }

    @Test
    void withoutRulesNothingIsLimited() {
        assertEquals(
                401, withRules("limiter.instances: 1").call("GET", "/closed").statusCode());
        String yaml = "limiter.rules.all: {path: /*, limits: 0/1h}";
        try (BootSite site = BootSite.start(folder, yaml, Site.class, "--limiter.filter.enabled=false")) {
            assertTrue(site.context().getBeansOfType(FilterRegistrationBean.class).values().stream()
                    .noneMatch(registration -> registration.getFilter() instanceof RateLimitFilter));
            assertEquals(401, site.call("GET", "/closed").statusCode());
        }
    }

    static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":right").getBytes(StandardCharsets.UTF_8));
    }

    private static String location(HttpResponse<String> answer) {
        return answer.headers().firstValue("Location").orElseThrow().replaceFirst("^http://[^/]*", "");
    }

    /** Before the login a failed one counts; after it, only who got through. */
    @Test
    void aPositionMovesARule() {
        String yaml = """
                limiter:
                  rules:
                    closed: {path: /closed, key: ip, limits: 2/1h, position: %s}
                """;
        try (BootSite site = BootSite.start(folder, yaml.formatted("after-authentication"), Site.class)) {
            assertEquals(List.of(401, 401, 401), site.statuses(3, "GET", "/closed"));
            assertEquals(List.of(200, 200, 429), site.statuses(3, "GET", "/closed", "Authorization", basic("ann")));
        }
        try (BootSite site = BootSite.start(folder, yaml.formatted("before-authentication"), Site.class)) {
            assertEquals(List.of(401, 401, 429), site.statuses(3, "GET", "/closed"));
        }
    }

    @Test
    void ordersAndWhatCanBeSet() {
        String yaml = """
                limiter:
                  rules:
                    address: {path: /*, limits: 1000/1h}
                    fair: {path: /*, key: user + path:id, limits: 1000/1h}
                """.replace("/*, key: user + path:id", "\"/users/{id}\", key: user + path:id");
        try (BootSite site = BootSite.start(folder, yaml, Site.class)) {
            assertEquals(-100, order(site, "securityFilterChainRegistration"));
            assertEquals(-10_100, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(-99, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
        try (BootSite site = BootSite.start(
                folder,
                yaml,
                Site.class,
                "--limiter.filter.order=-20000",
                "--limiter.filter.user-order=7",
                "--limiter.rules.address.key=user")) {
            assertEquals(-20_000, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(7, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
        try (BootSite site = BootSite.start(folder, yaml, Site.class, "--spring.security.filter.order=-20000")) {
            assertEquals(-20_001, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(-19_999, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
    }

    private static int order(BootSite site, String bean) {
        return ((Ordered) site.context().getBean(bean)).getOrder();
    }
}
