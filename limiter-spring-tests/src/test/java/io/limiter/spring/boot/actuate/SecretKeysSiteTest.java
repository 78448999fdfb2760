package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.RedisServers;
import io.limiter.spring.boot.BootSite;
import java.net.http.HttpResponse;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** API keys of a site on a real Redis: no name of a state shows them, and an operator types them as they are. */
class SecretKeysSiteTest {
    private static final String API_KEY = "k3y:/+ of Ann";
    private static final String TYPED = "header.x-api-key=" + API_KEY;

    private final String prefix = UUID.randomUUID().toString();

    private BootSite start() {
        String[] properties = {
            "limiter.redis.key-secret=the-secret-of-now",
            "limiter.policies.vote.limits=10/1h",
            "limiter.rules.pages.path=/pages/*",
            "limiter.rules.pages.key=header:X-Api-Key",
            "limiter.rules.pages.limits=3/1h",
            "management.endpoints.web.exposure.include=ratelimits,health",
            "management.endpoint.ratelimits.access=unrestricted",
        };
        return ManagedSite.onRedis(RedisServers.singlePort(), prefix, properties);
    }

    private static int page(BootSite site) {
        return site.call("GET", "/pages/one", "X-Api-Key", API_KEY).statusCode();
    }

    private static int remaining(HttpResponse<String> seen, String at) {
        assertEquals(200, seen.statusCode(), seen.body());
        assertTrue(!seen.body().contains("k3y"), seen.body());
        return read(seen, at + "limits[0].remaining");
    }

    private Set<String> names() {
        try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
            return redis.keys(prefix + "*");
        }
    }

    @Test
    void keysAreLookedAtAndResetInClear() throws Exception {
        try (BootSite site = start()) {
            assertEquals(200, page(site));
            assertEquals(200, page(site));
            assertEquals(1, remaining(site.key("GET", "pages", TYPED), "$."));
            String hashed = read(site.key("GET", "pages", TYPED), "$.key");
            assertTrue(hashed.matches("header\\.x-api-key=~[0-9a-f]{32}"), hashed);
            assertEquals(1, remaining(site.key("GET", "pages", hashed), "$."));
            assertTrue(names().stream().anyMatch(name -> name.contains(hashed)), "" + names());
            assertTrue(names().stream().noneMatch(name -> name.contains("k3y")), "" + names());
            assertEquals(200, site.key("DELETE", "pages", TYPED).statusCode());
            assertEquals(3, remaining(site.key("GET", "pages", TYPED), "$."));
        }
    }
}
