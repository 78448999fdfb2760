package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.Ordered;

/** Which filter decides a rule, and the orders of the two among the filters. */
class SecurityOrderTest {
    @TempDir
    Path folder;

    /** Before the login a failed one counts; after it, only who got through. */
    @Test
    void aPositionMovesARule() {
        String yaml = """
                limiter:
                  rules:
                    closed: {path: /closed, key: ip, limits: 2/1h, position: %s}
                """;
        try (BootSite site = BootSite.start(folder, yaml.formatted("after-authentication"), SecurityTest.Site.class)) {
            assertEquals(List.of(401, 401, 401), site.statuses(3, "GET", "/closed"));
            String ann = SecurityTest.basic("ann");
            assertEquals(200, site.call("GET", "/closed", "Authorization", ann).statusCode());
            assertEquals(200, site.call("GET", "/closed", "Authorization", ann).statusCode());
            assertEquals(429, site.call("GET", "/closed", "Authorization", ann).statusCode());
        }
        try (BootSite site = BootSite.start(folder, yaml.formatted("before-authentication"), SecurityTest.Site.class)) {
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
        try (BootSite site = BootSite.start(folder, yaml, SecurityTest.Site.class)) {
            assertEquals(-100, order(site, "securityFilterChainRegistration"));
            assertEquals(-10_100, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(-99, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
        try (BootSite site = BootSite.start(
                folder,
                yaml,
                SecurityTest.Site.class,
                "--limiter.filter.order=-20000",
                "--limiter.filter.user-order=7",
                "--limiter.rules.address.key=user")) {
            assertEquals(-20_000, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(7, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
        try (BootSite site =
                BootSite.start(folder, yaml, SecurityTest.Site.class, "--spring.security.filter.order=-20000")) {
            assertEquals(-20_001, order(site, "io.limiter.spring.rateLimitFilter"));
            assertEquals(-19_999, order(site, "io.limiter.spring.rateLimitUserFilter"));
        }
    }

    private static int order(BootSite site, String bean) {
        return ((Ordered) site.context().getBean(bean)).getOrder();
    }
}
