package io.limiter.spring.boot.actuate;

import com.jayway.jsonpath.JsonPath;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.BootSite;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Web applications with an actuator, open to everybody. */
final class ManagedSite {
    private ManagedSite() {}

    /** {@link Site} with these properties, and its state in the Redis at this port. */
    static BootSite onRedis(int port, String prefix, String[] properties, String... more) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.addAll(List.of(more));
        all.add("limiter.redis.address=redis://127.0.0.1:" + port);
        all.add("limiter.redis.prefix=" + prefix);
        all.add("limiter.redis.deadline=30s");
        all.add("limiter.redis.startup-wait=30s");
        return BootSite.start(Site.class, all.toArray(String[]::new));
    }

    /** A site with some limits, in Redis or in this JVM as the properties say. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({BootSite.Pages.class, BootSite.Open.class, Jobs.class})
    static class Site {}

    /** The same, at a fixed time. */
    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class StillSite {
        @Bean
        ManualTime time() {
            return new ManualTime();
        }

        @Bean
        RateLimiter rateLimiter(ManualTime time) {
            return RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        }
    }

    static class Jobs {
        @RateLimited(limits = "2/1h", key = "#account", permits = "#size", condition = "#size > 0")
        public void send(String account, int size) {}

        @RateLimited(limits = "1/1h token-bucket burst 5", name = "watched", key = "global", shadow = true)
        public void watch() {}
    }

    /** What a JSON path finds in a body. */
    static <T> T read(HttpResponse<String> response, String path) {
        try {
            return JsonPath.read(response.body(), path);
        } catch (RuntimeException notThere) {
            throw new AssertionError(path + " in " + response.statusCode() + " " + response.body(), notThere);
        }
    }
}
